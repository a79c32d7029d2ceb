{
  _config:: {
    // Which series are meant, as inside of braces: 'job="fullclock"'. All of them without.
    selector: '',
    // By which label of fullclock_host_info machines are peers.
    peers: 'cpu_model',
    // Fewer machines are no peers.
    fewestPeers: 5,
    // Healthy processors of one model differ by up to 16 % under turbo (Acun et al., "Variation Among Processors Under Turbo
    // Boost in HPC Systems", ICS 2016): a machine below this share of its peers' median is another matter.
    belowPeers: 0.8,
    dashboardTags: ['fullclock'],
  },
}
