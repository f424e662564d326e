import { BindLeaseStore, GatewayStore } from '@countersign/carriers/leases';
import { GatewayLeaseStore } from './gateway-lease.store.js';
import { LeaseMetrics } from './lease.metrics.js';
import { LeaseRenewer } from './lease-renewer.js';
import { SlotClaims } from './slot-claims.js';

/** Leases on bind connections. */
export const leasesProviders = [
  BindLeaseStore,
  GatewayStore,
  LeaseMetrics,
  GatewayLeaseStore,
  LeaseRenewer,
  SlotClaims,
];
