//! What a controller's sensors read, without fetching their records each time.

use super::controller::{Controller, Patience};
use super::failure::Failure;
use super::kept::Kept;
use super::records::SensorRecords;
use super::stamp::Stamp;
use facts::ipmi::RecordsOrigin;
use facts::ipmi::SensorValue;
use facts::ipmi::{
    Completion, Factors, Linearisation, Reading, ReadingFactors, Sensor, SensorOwner, SensorRecord,
    Threshold, Thresholds, Unanswered,
};
use std::collections::HashMap;
use std::path::Path;

/// The sensors of a controller, as its records describe them.
#[derive(Debug)]
pub struct Sensors {
    /// In the order of their records.
    pub sensors: Vec<Sensor>,
    /// Where the records come from.
    pub origin: RecordsOrigin,
    stamp: Stamp,
    /// Of sensors that are not linear: each of their readings has its own.
    factors: HashMap<(SensorOwner, u8, u8), Factors>,
}

impl Sensors {
    /// Learns which sensors there are: from the records that are kept in `folder`, where the controller says that they have
    /// not changed, else from the controller, and keeps them there.
    pub fn learn(
        controller: &mut Controller,
        folder: Option<&Path>,
        patience: Patience<'_>,
    ) -> Result<Sensors, Failure> {
        let stamp = Stamp::of(controller, patience)?;
        let why = match (folder, stamp.doubt()) {
            (None, _) => "no folder to keep them in was given".to_owned(),
            (_, Some(doubt)) => doubt.to_owned(),
            (Some(folder), None) => match Kept::read(folder, &stamp) {
                Ok(kept) => {
                    let origin = RecordsOrigin { is_kept: true, ..RecordsOrigin::default() };
                    return Ok(Sensors::of(&kept.records, stamp, origin));
                }
                Err(why) => why,
            },
        };
        Sensors::fetch(controller, stamp, folder, why, patience)
    }

    fn fetch(
        controller: &mut Controller,
        stamp: Stamp,
        folder: Option<&Path>,
        why: String,
        patience: Patience<'_>,
    ) -> Result<Sensors, Failure> {
        let records = match SensorRecords::all(controller, patience) {
            Ok(records) => records,
            // There is no first one.
            Err(why) if why.is_refusal(Completion::NOT_PRESENT) => Vec::new(),
            Err(why) => return Err(why),
        };
        let questions = records.iter().map(|it| it.questions).sum();
        let records: Vec<Vec<u8>> = records.into_iter().map(|it| it.bytes).collect();
        let doubt = stamp.doubt().map(str::to_owned);
        let kept = Kept::new(stamp, records);
        let unkept = match (folder, doubt) {
            (None, _) => String::new(),
            (_, Some(doubt)) => doubt,
            (Some(folder), None) => kept
                .write(folder)
                .err()
                .map(|it| format!("{}: {it}", folder.display()))
                .unwrap_or_default(),
        };
        let origin = RecordsOrigin { questions, why, unkept, ..RecordsOrigin::default() };
        Ok(Sensors::of(&kept.records, kept.stamp, origin))
    }

    /// Of records from there, which are counted here.
    fn of(records: &[Vec<u8>], stamp: Stamp, origin: RecordsOrigin) -> Sensors {
        let read: Vec<SensorRecord> =
            records.iter().filter_map(|it| SensorRecord::parse(it).ok()).collect();
        let (n_records, n_unreadable) = (records.len(), records.len() - read.len());
        let origin = RecordsOrigin { n_records, n_unreadable, ..origin };
        let sensors = read.into_iter().flat_map(SensorRecord::into_sensors).collect();
        Sensors { sensors, origin, stamp, factors: HashMap::new() }
    }

    /// Learns them anew where the controller says that its records are not those from before; whether it did.
    pub fn revalidate(
        &mut self,
        controller: &mut Controller,
        folder: Option<&Path>,
        patience: Patience<'_>,
    ) -> Result<bool, Failure> {
        let stamp = Stamp::of(controller, patience)?;
        if stamp == self.stamp {
            return Ok(false);
        }
        let why = "they have changed since".to_owned();
        *self = Sensors::fetch(controller, stamp, folder, why, patience)?;
        Ok(true)
    }

    /// Reads all of them, in their order.
    ///
    /// Errors: the controller itself did not answer. That it does not tell of a sensor is an answer.
    pub fn read(
        &mut self,
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<Vec<Result<SensorValue, Unanswered>>, Failure> {
        let questions: Vec<_> =
            self.sensors.iter().map(|it| (it.owner, Reading::question(it.number))).collect();
        let readings = controller.ask_all(&questions, patience)?;
        let mut measured = Vec::with_capacity(readings.len());
        for (index, reading) in readings.into_iter().enumerate() {
            measured.push(match reading {
                Err(why) => Err(why),
                Ok(reading) => {
                    let value = match reading.current() {
                        None => None,
                        Some(raw) => self.value(index, raw, controller, patience)?,
                    };
                    Ok(SensorValue { reading, value })
                }
            });
        }
        Ok(measured)
    }

    /// The thresholds of each of them that can be asked for, in its unit.
    pub fn thresholds(
        &mut self,
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<Vec<Vec<(Threshold, f64)>>, Failure> {
        let with_some: Vec<usize> = (0..self.sensors.len())
            .filter(|it| !self.sensors[*it].readable_thresholds.is_empty())
            .collect();
        let question = |it: &usize| {
            let sensor = &self.sensors[*it];
            (sensor.owner, Thresholds::question(sensor.number))
        };
        let questions: Vec<_> = with_some.iter().map(question).collect();
        let told = controller.ask_all(&questions, patience)?;
        let mut all = vec![Vec::new(); self.sensors.len()];
        for (index, thresholds) in with_some.into_iter().zip(told) {
            let Ok(thresholds) = thresholds else { continue };
            for threshold in self.sensors[index].readable_thresholds.iter() {
                let Some(raw) = thresholds.get(threshold) else { continue };
                if let Some(value) = self.value(index, raw, controller, patience)? {
                    all[index].push((threshold, value));
                }
            }
        }
        Ok(all)
    }

    /// The value of a reading.
    fn value(
        &mut self,
        index: usize,
        raw: u8,
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<Option<f64>, Failure> {
        let Some((sensor, analog)) = self.sensors.get(index).and_then(|it| Some((it, it.analog?)))
        else {
            return Ok(None);
        };
        if analog.factors.linearisation != Linearisation::NonLinear {
            return Ok(analog.value(raw));
        }
        let key = (sensor.owner, sensor.number, raw);
        if let Some(factors) = self.factors.get(&key) {
            return Ok(factors.value(raw, analog.format));
        }
        let question = ReadingFactors::question(sensor.number, raw);
        let Ok(told) = answered(controller.ask_of(sensor.owner, &question, patience.anew()))?
        else {
            return Ok(None);
        };
        self.factors.insert(key, told.factors);
        Ok(told.factors.value(raw, analog.format))
    }
}

/// Sets apart what a controller that works says of one sensor.
fn answered<T>(answer: Result<T, Failure>) -> Result<Result<T, Unanswered>, Failure> {
    match answer {
        Ok(it) => Ok(Ok(it)),
        Err(Failure::Unanswered { why, .. }) => Ok(Err(why)),
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake;
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    /// A controller with a linear sensor (1) and one that is not (2); what it was asked for, by command.
    #[derive(Default)]
    struct Bmc {
        asked: Vec<u8>,
        /// When its records changed last.
        changed: u8,
        /// It has no records.
        is_empty: bool,
        /// The number of a sensor that it says is not there.
        absent: u8,
    }

    /// A full record of a temperature, unsigned, multiplied by 2; where that is all, it has no thresholds.
    fn record(number: u8, linearisation: u8) -> Vec<u8> {
        let header = [number, 0, 0x51, 1, 44];
        let readable = if linearisation == 0 { 0 } else { 0x12 };
        let who = [0x20, 0, number, 3, 1, 0x7f, 0x68, 1, 1, 0, 0, 0, 0, readable, 0];
        let scale = [0, 1, 0, linearisation, 2, 0, 0, 0, 0, 0, 0];
        [&header[..], &who, &scale, &[0; 16], &[0xc1, b'A' + number]].concat()
    }

    impl Bmc {
        fn answer(&mut self, command: u8, data: &[u8]) -> Vec<u8> {
            self.asked.push(command);
            match command {
                0x01 => vec![0, 0x20, 1, 1, 0, 2, 0xbf, 0, 0, 0, 0, 0],
                0x08 => [&[0][..], &[0x5a; 16]].concat(),
                0x20 => vec![0, 0x51, 2, 0, 0, 1, self.changed, 0, 0, 0x60, 0, 0, 0, 0, 0],
                0x22 => vec![0, 1, 0],
                0x23 if data.len() == 6 && self.is_empty => vec![0xcb],
                0x23 if data.len() == 6 && data[2] == 2 => {
                    [&[0, 0xff, 0xff][..], &record(2, 0x70)].concat()
                }
                0x23 if data.len() == 6 => [&[0, 2, 0][..], &record(1, 0)].concat(),
                // The factors of a reading: five times it.
                0x23 => vec![0, 0xff, 5, 0, 0, 0, 0, 0],
                0x27 => vec![0, 0x12, 0, 4, 0, 0, 90, 0],
                0x2d if data[0] == self.absent => vec![0xcb],
                0x2d => vec![0, 21, 0xc0, 0xc0],
                _ => vec![0xc1],
            }
        }
    }

    fn bmc() -> (Rc<RefCell<Bmc>>, Controller) {
        let bmc = Rc::new(RefCell::new(Bmc::default()));
        let answering = Rc::clone(&bmc);
        let answer = move |asked: &super::super::Asked<'_>| {
            Some(answering.borrow_mut().answer(asked.command, asked.data))
        };
        (bmc, fake::controller(answer))
    }

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn learnt(controller: &mut Controller, folder: Option<&Path>) -> Sensors {
        let patience = Patience::begin(Duration::from_secs(60), &NEVER);
        Sensors::learn(controller, folder, patience).unwrap()
    }

    #[test]
    fn records_are_fetched_once_and_again_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let (bmc, mut controller) = bmc();
        let first = learnt(&mut controller, Some(folder.path()));
        assert_eq!((first.origin.is_kept, first.origin.questions), (false, 2));
        assert_eq!(
            (&first.origin.why[..], &first.origin.unkept[..]),
            ("this is the first time", "")
        );
        bmc.borrow_mut().asked.clear();
        let second = learnt(&mut controller, Some(folder.path()));
        assert_eq!(bmc.borrow().asked, [0x01, 0x08, 0x20]);
        assert!(second.origin.is_kept);
        assert_eq!(second.sensors, first.sensors);
        bmc.borrow_mut().changed = 1;
        let third = learnt(&mut controller, Some(folder.path()));
        assert_eq!(
            (third.origin.is_kept, third.origin.why),
            (false, "they have changed since".to_owned())
        );
    }

    #[test]
    fn whoever_stays_notices_a_change() {
        let (bmc, mut controller) = bmc();
        let mut sensors = learnt(&mut controller, None);
        let patience = Patience::begin(Duration::from_secs(60), &NEVER);
        assert!(!sensors.revalidate(&mut controller, None, patience).unwrap());
        bmc.borrow_mut().changed = 1;
        bmc.borrow_mut().is_empty = true;
        assert!(sensors.revalidate(&mut controller, None, patience).unwrap());
        assert!(sensors.sensors.is_empty());
    }

    #[test]
    fn a_reading_takes_one_question_and_factors_of_its_own_are_asked_for_once() {
        let (bmc, mut controller) = bmc();
        let mut sensors = learnt(&mut controller, None);
        let patience = Patience::begin(Duration::from_secs(60), &NEVER);
        for asked in [&[0x2d, 0x2d, 0x23][..], &[0x2d, 0x2d]] {
            bmc.borrow_mut().asked.clear();
            let read = sensors.read(&mut controller, patience).unwrap();
            let values: Vec<_> = read.into_iter().map(|it| it.map(|it| it.value)).collect();
            assert_eq!(values, [Ok(Some(42.0)), Ok(Some(105.0))]);
            assert_eq!(bmc.borrow().asked, asked);
        }
        bmc.borrow_mut().absent = 1;
        let read = sensors.read(&mut controller, patience).unwrap();
        let values: Vec<_> = read.into_iter().map(|it| it.map(|it| it.value)).collect();
        assert_eq!(values, [Err(Unanswered::Refused(Completion::NOT_PRESENT)), Ok(Some(105.0))]);
    }

    #[test]
    fn thresholds_are_those_of_the_sensor_that_has_them() {
        let (_, mut controller) = bmc();
        let mut sensors = learnt(&mut controller, None);
        let patience = Patience::begin(Duration::from_secs(60), &NEVER);
        let thresholds = sensors.thresholds(&mut controller, patience).unwrap();
        let of_second = vec![(Threshold::LowerCritical, 20.0), (Threshold::UpperCritical, 450.0)];
        assert_eq!(thresholds, [Vec::new(), of_second]);
    }

    #[test]
    fn a_record_that_nobody_can_read_is_counted_and_the_others_stay() {
        let short = record(1, 0)[..40].to_vec();
        let (_, mut controller) = bmc();
        let patience = Patience::begin(Duration::from_secs(60), &NEVER);
        let stamp = Stamp::of(&mut controller, patience).unwrap();
        let Sensors { origin, sensors, .. } =
            Sensors::of(&[short, record(2, 0)], stamp, RecordsOrigin::default());
        assert_eq!(sensors.len(), 1);
        assert_eq!((origin.n_records, origin.n_unreadable), (2, 1));
    }
}
