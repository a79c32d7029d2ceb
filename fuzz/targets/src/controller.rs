//! Answers of a management controller: whatever bytes come, reading them ends with an answer or with words.

use facts::Microwatts;
use facts::ipmi::{
    DcmiCapabilities, DeviceId, EventLogEntry, EventLogInfo, Guid, PowerLimit, PowerReading,
    Question, Reading, ReadingFactors, RepositoryInfo, Reservation, Response, Thresholds, bytes,
    digits,
};

pub(crate) fn run(data: &[u8]) {
    assert_eq!(bytes(&digits(data)).as_deref(), Some(data));
    told(&DeviceId::question(), data);
    told(&Guid::of_system(), data);
    told(&EventLogEntry::question(0), data);
    told(&EventLogInfo::question(), data);
    told(&ReadingFactors::question(1, 2), data);
    told(&Reading::question(1), data);
    told(&RepositoryInfo::question(), data);
    told(&Reservation::question(), data);
    told(&Thresholds::question(1), data);
    told(&DcmiCapabilities::question(), data);
    let most = Microwatts(65_534_000_000);
    if let Some(reading) = told(&PowerReading::question(), data) {
        assert!(reading.current.0 > 0 && reading.maximum.max(reading.current) <= most);
    }
    let limit = PowerLimit::in_force(PowerLimit::question().parse(data));
    if let Ok(Some(limit)) = limit {
        assert!(limit.power.0 > 0 && limit.power <= most && !limit.action.to_string().is_empty());
        assert!(!Response::new(&PowerLimit::question(), data.to_vec(), limit).digits().is_empty());
    }
}

fn told<T>(question: &Question<T>, data: &[u8]) -> Option<T> {
    // A message stays short whatever was found.
    let answer = question.parse(data).inspect_err(|why| {
        let message = why.to_string();
        assert!(message.len() < 1024, "{message}");
    });
    answer.ok()
}
