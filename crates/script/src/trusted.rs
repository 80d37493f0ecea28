//! The functions of the prelude that the host calls.

use mlua::{Function, Result, Table};

macro_rules! trusted {
    ($($name:ident)*) => {
        /// The prelude's functions for the host.
        #[cfg_attr(not(feature = "continuations"), expect(dead_code, reason = "some are read to compare continuations"))]
        pub(super) struct Trusted {
            $(pub $name: Function,)*
        }

        impl Trusted {
            pub fn of(prelude: &Table) -> Result<Trusted> {
                Ok(Trusted { $($name: prelude.raw_get(stringify!($name))?,)* })
            }
        }
    };
}

trusted! {
    start entry run_on free derived sheet overview prompt view order measure statistic keys tie place may_act deal creation
    policy_act refresh stale convert state mirrored
}
