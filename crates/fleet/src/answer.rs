//! What is said of a fleet.

use crate::machine::{Attribute, Figure};
use std::sync::Arc;

/// Which machines are slow against their peers, and what explains them.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the machines were compared by.
    pub figure: Figure,
    /// The names of the labels whose values peers share.
    pub peers_by: Vec<Arc<str>>,
    /// Machines that were given.
    pub machines: usize,
    /// Machines without the figure, by index.
    pub silent: Vec<usize>,
    /// Machines whose figure no speed can have (0, below it, infinite or not a number), by index. They are not compared.
    pub unusable: Vec<usize>,
    /// Machines whose name an earlier one has, too. Each is judged by itself.
    pub namesakes: usize,
    /// The groups of peers, the largest first.
    pub groups: Vec<Group>,
    /// Machines below their peers, in the order of what they lose, the most first.
    pub slow: Vec<Slow>,
    /// Machines far below the few peers that they have, the most first: of groups of three or four, of which nothing can be tested, so that
    /// nothing says how often that is wrong.
    pub suspects: Vec<Suspect>,
    /// What explains them, the one that holds most of what is lost first.
    pub explanations: Vec<Explanation>,
    /// How many values and pairs of values were looked at for them. Chance alone finds an explanation among them in one fleet of 100.
    pub searched: usize,
    /// What slow machines have and their peers lack: of each explanation, of the slowest machines that nothing explains, and of
    /// suspects.
    pub contrasts: Vec<Contrast>,
    /// Where no machine is slow, a suspect or explained: what few machines have and most of their peers do not. Differences, and no causes.
    /// First those with a finding, the most severe one first, then those in which a setting or a label differs, then the rest; of equals
    /// those of the fewest machines.
    pub minorities: Vec<Minority>,
    /// The share of the accused machines that is wrong at most, on average (false discovery rate).
    pub false_share: f64,
    /// How many machines were tested for it.
    pub tested: usize,
}

/// Machines that should be equally fast.
#[derive(Clone, Debug)]
pub struct Group {
    /// What they share, one value for each of [`Answer::peers_by`]; `None` where the machines do not tell.
    pub values: Vec<Option<Arc<str>>>,
    /// Its machines, by index, the slowest first.
    pub machines: Vec<usize>,
    /// The figure of a typical healthy one; 0 where the group has too few to say.
    pub centre: f64,
    /// The spread between healthy ones, as a share of the centre: a robust standard deviation.
    pub spread: f64,
    /// The smallest loss of a single machine that the group can tell from its spread, as a share of the centre.
    pub detectable: f64,
    /// Why nothing is said of its machines.
    pub too_few: Option<TooFew>,
}

/// Why a group says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// How many machines it has.
    pub has: usize,
    /// How many it takes.
    pub needs: usize,
}

/// A machine below its peers.
#[derive(Clone, Copy, Debug)]
pub struct Slow {
    /// Its index.
    pub machine: usize,
    /// The index of its group in [`Answer::groups`].
    pub group: usize,
    /// Its figure.
    pub value: f64,
    /// What it lacks of its group's centre, as a share: 0.75 of a machine at 25 %.
    pub lost: f64,
    /// How many spreads it is below the centre.
    pub spreads: f64,
    /// The index in [`Answer::explanations`] of what explains it.
    pub explained_by: Option<usize>,
}

/// A machine far below the few peers that it has: by 20 % or more below each, while these are nearer to each other.
#[derive(Clone, Copy, Debug)]
pub struct Suspect {
    /// Its index.
    pub machine: usize,
    /// The index of its group in [`Answer::groups`].
    pub group: usize,
    /// Its figure.
    pub value: f64,
    /// What it lacks of the middle one of its peers, as a share.
    pub lost: f64,
}

/// One value, or a pair of values, that slow machines have and their peers lack.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// One or two attributes; both must hold.
    pub attributes: Vec<Attribute>,
    /// Other attributes, or pairs, that exactly the same machines have: nothing here says which it is.
    pub same: Vec<Vec<Attribute>>,
    /// The group of which it was found, in [`Answer::groups`]; `None` where it holds across groups.
    pub group: Option<usize>,
    /// Machines that have it, by index.
    pub inside: Vec<usize>,
    /// Whether only some of these are slow, although far more than of the others; a typical one loses nothing then.
    pub partly: bool,
    /// How many of these are slow, each by itself.
    pub slow_inside: usize,
    /// How many of the slow ones it explains best: the others have another explanation.
    pub explains: usize,
    /// How many peers lack it.
    pub outside: usize,
    /// How many of these are slow and explained by nothing better.
    pub slow_outside: usize,
    /// What a typical machine that has it loses against its peers that lack it, as a share.
    pub lost: f64,
    /// The 99 % interval of that.
    pub interval: (f64, f64),
}

/// What machines have that their peers lack.
#[derive(Clone, Debug)]
pub struct Contrast {
    /// Which machines.
    pub of: Subject,
    /// What they have, the most telling first; a few at most.
    pub telling: Vec<Telling>,
}

/// Machines that are held against their peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Those of an explanation, by its index in [`Answer::explanations`].
    Explanation(usize),
    /// One machine, by its index.
    Machine(usize),
}

/// An attribute that is more frequent among some machines than among their peers.
#[derive(Clone, Debug)]
pub struct Telling {
    /// The attribute.
    pub attribute: Attribute,
    /// How many of them have it.
    pub inside: usize,
    /// Of how many it is known.
    pub of_inside: usize,
    /// How many peers have it.
    pub outside: usize,
    /// Of how many peers it is known.
    pub of_outside: usize,
}

/// Machines that have something which few of their peers have.
#[derive(Clone, Debug)]
pub struct Minority {
    /// What they share with their peers, one value for each of [`Answer::peers_by`]; `None` where the machines do not tell.
    pub values: Vec<Option<Arc<str>>>,
    /// Themselves, by index.
    pub machines: Vec<usize>,
    /// How many machines they and their peers are.
    pub of: usize,
    /// What exactly these machines have: findings first, the most severe one first.
    pub unusual: Vec<Unusual>,
}

/// An attribute that few machines have.
#[derive(Clone, Debug)]
pub struct Unusual {
    /// The attribute.
    pub attribute: Attribute,
    /// What most have in its place; `None` where most have nothing of that name: no such finding, or no setting or fact that is known.
    pub usual: Option<Arc<str>>,
    /// How many have that.
    pub n_usual: usize,
    /// How many tell anything of it, these machines included.
    pub known: usize,
}
