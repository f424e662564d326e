import type { SealedColumn } from '@countersign/key-ring';

/** Bodies of deliveries, sealed with the master key. */
export const DELIVERY_KEY_COLUMN: SealedColumn = {
  table: 'deliveries',
  column: 'body_sealed',
  label: 'webhook-body',
  context: 'id::text',
  isList: false,
  isSmall: false,
  gatewaysWrite: false,
};
