export { onDays } from '../day-statements.js';
export { dayRanges } from '../partition-days.js';
export { dropOldPartitions, ensurePartitions, partitionDaysAhead, PartitionMaintainer } from './partitions.js';
