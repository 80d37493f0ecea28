use std::rc::Rc;
use std::sync::Arc;

use mlua::{Lua, LuaString, Result, Table, Value as Lv, Variadic};

use super::super::account::charge;
use super::super::budget::{hold, uncharged};
#[cfg(feature = "continuations")]
use super::super::continuation::use_of_results;
use super::super::conversion::{name_of, to_lua, whole_of, whole_or_why};
use super::arguments::{audience_arg, fill_told, text_arg, told};
use super::cost::{DIE, TOLD};
use super::refusal::{fault, stopped};
use super::state::{HostState, LONGEST_LABEL, host_function};
use riskbreaker_dice::Dice;
use riskbreaker_play::{ActionContext, Need, Sight, SightForm};

/// The most dice expressions that a machine caches: as many as a ruleset contains.
const MOST_DICE: usize = 1_000;
/// The number of copies of a long label that are charged: on the tape, in an event, and in log texts.
const COPIES: usize = 3;
/// The most thresholds of a band.
const MOST_CUTS: usize = 1_000;

/// Without a machine that explores, the use of draws is unknown.
#[cfg(not(feature = "continuations"))]
const fn use_of_results() -> i32 {
    0
}

pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    // Returns the number of a cached dice expression, for `roll`; the expression itself if the cache is full.
    host_function!(lua, host, table, "dice_number", |_, b, (numbers, dice): (Table, Lv)| {
        let context = b.context()?;
        let Lv::String(text) = &dice else {
            return Err(fault(context, format!("dice are a text such as \"2d6+1\", not {}", told(&dice))));
        };
        let parsed = parsed(context, text)?;
        let mut known = b.dice.borrow_mut();
        if known.len() >= MOST_DICE {
            return Ok(dice);
        }
        known.push(parsed);
        numbers.raw_set(&dice, known.len())?;
        Ok(Lv::Number(known.len() as f64))
    });
    // roll(dice by number or text, form of the result, target, label, values for placeholders)
    host_function!(
        lua,
        host,
        table,
        "roll",
        |lua, b, (dice, sight, need, label, args): (Lv, u8, Lv, Lv, Variadic<Lv>)| {
            let context = b.context()?;
            let dice = match &dice {
                Lv::String(text) => parsed(context, text)?,
                number => {
                    let at = whole_of(number).and_then(|number| usize::try_from(number - 1).ok());
                    at.and_then(|at| b.dice.borrow().get(at).cloned())
                        .ok_or_else(|| fault(context, "there are no such dice"))?
                }
            };
            let sight = sight_of(context, sight, &need)?;
            let label = match &label {
                Lv::Nil => b.label(&dice.to_string()),
                Lv::String(text) => {
                    let text = text.to_str()?;
                    if text.len() > LONGEST_LABEL {
                        hold(COPIES * text.len())?;
                    }
                    b.label(&text)
                }
                other => text_arg(context, other, "the label of a roll")?,
            };
            let counted = context.paths.as_ref().is_some_and(|explorer| !explorer.is_sampling());
            let mut roll = || {
                let told = |context: &ActionContext| fill_told(&label, &args, context, &b.handles.borrow());
                context.roll(&dice, &label, &sight, told)
            };
            let count = dice.count();
            charge(16 + count as i64 / 4);
            hold(TOLD + count * DIE)?;
            // While all faces are enumerated, the host makes them: their number is limited there.
            let seen = if counted { uncharged(roll) } else { roll() };
            to_lua(lua, &seen.map_err(stopped)?, &b.handles.borrow())
        }
    );
    // deal(n): returns a random number from 1 to n for a draw.
    host_function!(lua, host, table, "deal", |_, b, n: Lv| {
        let context = b.context()?;
        match whole_of(&n).and_then(|n| u32::try_from(n).ok()) {
            Some(n) if n > 0 => context.deal(n).map_err(stopped),
            _ => Err(fault(context, "nothing is left to draw")),
        }
    });
    // use_of_draw(): while paths are explored, how the script uses the two results of the calling function, as bits: 1
    // if the second is never read, 2 if the first is only iterated once, 4 if it is sorted first. `nil` otherwise.
    host_function!(lua, host, table, "use_of_draw", |_, b, (): ()| {
        Ok(b.context()?.merges_draws().then(use_of_results))
    });
    // deal_among(n, cuts): returns the number of thresholds that a random number from 1 to n reaches, for a draw.
    host_function!(lua, host, table, "deal_among", |_, b, (n, cuts): (u32, Lv)| {
        let context = b.context()?;
        let cuts = cuts_of(context, &cuts)?;
        context.deal_among(n, cuts).map_err(stopped)
    });
    // roll_for(audience): sets the audience of the next roll.
    host_function!(lua, host, table, "roll_for", |_, b, audience: Lv| {
        let context = b.context()?;
        context.rolls.audience = audience_arg(context, &audience, &b.handles.borrow(), "the audience of a roll")?;
        Ok(())
    });
    // last_roll(): returns the total of the last roll. roll_number() and return_to_roll(number): get and set which one
    // that is.
    host_function!(lua, host, table, "last_roll", |_, b, (): ()| b.context()?.look_at_roll().map_err(stopped));
    host_function!(lua, host, table, "roll_number", |_, b, (): ()| Ok(b.context()?.rolls.last));
    host_function!(lua, host, table, "return_to_roll", |_, b, number: usize| {
        b.context()?.return_to_roll(number);
        Ok(())
    });
    host_function!(lua, host, table, "begin_again", |_, b, (): ()| b.context()?.begin_again().map_err(stopped));
    host_function!(lua, host, table, "roll_again", |_, b, (): ()| b.context()?.roll_again().map_err(stopped));
    host_function!(lua, host, table, "pick", |_, b, n: Lv| {
        let context = b.context()?;
        match whole_of(&n).filter(|n| (1..=1_000_000).contains(n)) {
            Some(n) => context.pick(n as u32).map_err(stopped),
            None => Err(fault(context, format!("rb.pick takes a whole number from 1 to 1000000, not {}", told(&n)))),
        }
    });
    Ok(())
}

fn parsed(context: &mut ActionContext, text: &LuaString) -> Result<Arc<Dice>> {
    let text = name_of(text)?;
    Dice::parse(&text).map(Arc::new).map_err(|error| fault(context, format!("\"{text}\" are no dice: {error}")))
}

/// The form of a roll's result, by the prelude's code.
fn sight_of(context: &mut ActionContext, sight: u8, need: &Lv) -> Result<Sight> {
    let need_of = |context: &mut ActionContext, make: fn(i64) -> Need| match whole_or_why(need) {
        Ok(n) => Ok(Sight::Need(make(n))),
        Err(why) => Err(fault(context, format!("a roll needs a whole number: {why}"))),
    };
    match SightForm::numbered(sight).unwrap_or(SightForm::Total) {
        SightForm::Total => Ok(Sight::Total),
        SightForm::Under => need_of(context, Need::Under),
        SightForm::AtMost => need_of(context, Need::AtMost),
        SightForm::AtLeast => need_of(context, Need::AtLeast),
        SightForm::Cuts => cuts_of(context, need).map(Sight::Cuts),
        SightForm::Faces => Ok(Sight::Faces),
        SightForm::Ordered => Ok(Sight::Ordered),
        SightForm::Ranks => Ok(Sight::Ranks),
    }
}

fn cuts_of(context: &mut ActionContext, cuts: &Lv) -> Result<Arc<[i64]>> {
    let Lv::Table(list) = cuts else {
        return Err(fault(context, format!("rb.band takes a list of cuts, not {}", told(cuts))));
    };
    if list.raw_len() > MOST_CUTS {
        return Err(fault(context, format!("rb.band takes at most {MOST_CUTS} cuts")));
    }
    list.sequence_values::<Lv>()
        .map(|cut| {
            let cut = cut?;
            whole_of(&cut)
                .ok_or_else(|| fault(context, format!("a cut of rb.band must be a whole number, not {}", told(&cut))))
        })
        .collect()
}
