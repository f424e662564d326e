export {
  dropOldPartitions,
  ensurePartitions,
  PartitionMaintainer,
  type PartitionMaintainerOptions,
} from './partitions.js';
