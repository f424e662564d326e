export type LinkRole = 'esme' | 'smsc';
export type BindType = 'transmitter' | 'receiver' | 'transceiver';
export type LinkState = 'open' | 'binding' | 'bound_tx' | 'bound_rx' | 'bound_trx' | 'unbinding' | 'closed';
