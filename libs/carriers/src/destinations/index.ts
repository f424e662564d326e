export { DestinationRuleEntity } from './destination-rule.entity.js';
export {
  DESTINATION_ACTIONS,
  type DestinationAction,
  type DestinationPage,
  type DestinationRule,
  type GuardBlock,
  type NewDestinationRule,
  type RefusalTally,
} from './destination.js';
export { DestinationStore } from './destination.store.js';
