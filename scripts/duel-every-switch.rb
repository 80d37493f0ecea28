# riskbreaker play duel --seed 5
# --set turn_order=lowest_first --set order_basis=live --set tie_check=every_pick --set zero_tie=players_first
# --set bystander_timing=before_fights --set free_withdrawal=yes --set growth=flat_one --set outnumber=every_round
# --set regroup=fresh --set effective_floor=1 --set kill_capacity=effective --set skill_damage_stat=attacker_choice
# --set damage_split=each_target_full --set weapon_lockout=knock_out --set unskilled=bare_stat --set maneuver_success=risk
# --set maneuver_penalty=old_fight_if_none --set pursuit_cost=uses_action --set pursuit_needs_maneuver=yes
# --set alteration_loss=now --set tactics_size=gm --set heal_amount=one --set revive_in_battle=yes
# --set counters_between_battles=clear
#
# A duel with each of the 24 house rules turned away from its default. `switches` tells what each one decides.
switches
switches unskilled

# Declare by hand: with `free_withdrawal` one may stay out of it, and does not.
declare no
fight against defender
ok

# The players go first at 0 (`zero_tie`), and a bare stat may be tested (`unskilled`).
advantage
wit
3
auto 400 bold
