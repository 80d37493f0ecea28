mod dice;

pub use crate::dice::{
    Chance, Dice, Distribution, Face, FacesError, Fate, NotationError, Roll, TooWide,
};
