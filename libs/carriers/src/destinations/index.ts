export { type DestinationRule, DestinationRuleEntity } from './destination-rule.entity.js';
export { DESTINATION_ACTIONS, type DestinationAction, type RefusalTally, type SessionRefusal } from './destination.js';
export { DestinationStore } from './destination.store.js';
