import type { Provider } from '@nestjs/common';
import { BindLeaseStore, GatewayStore } from '@countersign/carriers/leases';
import { provide } from '@countersign/composition';
import { GatewayLeaseStore } from './gateway-lease.store.js';
import { LeaseMetrics } from './lease.metrics.js';
import { LeaseRenewer } from './lease-renewer.js';
import { SlotClaims } from './slot-claims.js';

/** Leases on bind connections. */
export const leasesProviders: Provider[] = [
  provide(BindLeaseStore, [], () => new BindLeaseStore()),
  provide(GatewayStore, [], () => new GatewayStore()),
  LeaseMetrics,
  GatewayLeaseStore,
  LeaseRenewer,
  SlotClaims,
];
