//! The server whose time is measured: its processes, those that begin later included.

use crate::measure::tracing::{Fork, kin};
use facts::system::roles::Product;
use host::Live;
use host::descendants::threads;
use host::server::{Members, Reading, Spent, main_processes, product_of_process};
use lab::server::FoundServer;
use rules::ledger::ServerTasks;
use std::collections::{BTreeMap, BTreeSet};

/// The processes of a server, from one look to the next.
pub(crate) struct ServerWatch {
    members: Members,
    title: &'static str,
    /// Every thread that was seen, with its process.
    threads: BTreeMap<u32, u32>,
    before: Reading,
    spent: Spent,
}

impl ServerWatch {
    pub(crate) fn of(found: &FoundServer) -> ServerWatch {
        ServerWatch {
            members: Members::of(found.extent.clone()),
            title: found.title(),
            threads: BTreeMap::new(),
            before: Reading::default(),
            spent: Spent::default(),
        }
    }

    /// Notes what it has run until now. To be asked when the sample at the beginning has been taken.
    pub(crate) fn begin(&mut self, source: &Live) {
        self.look(source);
        self.before = Reading::of(source, &self.members);
    }

    /// Looks who is there.
    pub(crate) fn look(&mut self, source: &Live) {
        self.members.look(source);
        for pid in self.members.living() {
            self.threads.extend(threads(source, pid).into_iter().map(|tid| (tid, pid)));
        }
    }

    /// Notes what it ran. To be asked when the sample at the end has been taken.
    pub(crate) fn end(&mut self, source: &Live) -> Spent {
        self.look(source);
        self.spent = Reading::of(source, &self.members).since(&self.before);
        self.spent
    }

    /// Every thread that was seen.
    pub(crate) fn threads(&self) -> impl Iterator<Item = u32> + '_ {
        self.threads.keys().copied()
    }

    /// Tasks that belong to its processes, each with one of them: those that were seen, and by traced `forks` those that were
    /// not.
    pub(crate) fn kin(&self, forks: &[Fork]) -> BTreeMap<u32, u32> {
        kin(forks, self.threads.clone())
    }

    /// For a ledger, after [`ServerWatch::end`].
    pub(crate) fn tasks(&self) -> ServerTasks {
        let name = self.members.usual_of_ended().unwrap_or(self.title);
        ServerTasks {
            processes: self.members.processes().collect::<BTreeSet<u32>>(),
            names: self.members.names().clone(),
            ended_name: format!("{name} (ended)"),
            ended_ns: self.spent.ended_ns,
        }
    }
}

/// What to write for all of the server of which some processes were asked for by their numbers.
pub(crate) fn hint(source: &Live, pids: &[u32]) -> Option<String> {
    let server = |pid: &u32| -> Option<(u32, &'static Product)> {
        let product = product_of_process(source, *pid)?;
        let is_main = main_processes(source, product).contains(pid);
        let has_children = !host::descendants::descendants(source, *pid).is_empty();
        (is_main && has_children).then_some((*pid, product))
    };
    let (pid, product) = pids.iter().find_map(server)?;
    Some(format!(
        "{pid} is the main process of a {} server, and the processes that it starts are others here: --server {pid} takes \
         all of them",
        product.title
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::server::Extent;

    #[test]
    fn what_descends_from_a_thread_of_the_server_is_the_servers_whatever_order_the_forks_come_in() {
        let found =
            FoundServer { extent: Extent::Tree(1), product: None, n_servers: 1, note: None };
        let watch = ServerWatch { threads: [(7, 7), (8, 7)].into(), ..ServerWatch::of(&found) };
        let forks = [(9, 10), (8, 9), (3, 4)].map(|(parent, child)| Fork { parent, child });
        assert_eq!(watch.kin(&forks), [(7, 7), (8, 7), (9, 7), (10, 7)].into());
    }
}
