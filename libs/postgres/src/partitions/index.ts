export { dropOldPartitions, ensurePartitions, PartitionMaintainer } from './partitions.js';
