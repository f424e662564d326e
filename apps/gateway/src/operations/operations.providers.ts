import { PartitionMaintenance } from '../maintenance/partition.maintenance.js';
import { RowPurge } from '../maintenance/row-purge.js';
import { GatewayReadiness } from './gateway-readiness.js';
import { OperationsPort } from './operations.port.js';

/** Maintenance of tables, readiness and metrics. */
export const operationsProviders = [PartitionMaintenance, RowPurge, GatewayReadiness, OperationsPort];
