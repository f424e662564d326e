export { dropOldPartitions, ensurePartitions, partitionDaysAhead, PartitionMaintainer } from './partitions.js';
