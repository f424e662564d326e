import type { Uuid } from '@countersign/ids';
import type { RestrictedKind } from '@countersign/phone';
import { EntityTable, TimeColumn } from '@countersign/postgres';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DestinationAction } from './destination.js';

/**
 * Whether codes are sent to numbers with a prefix: decided by an admin, or blocked by the guard (contract, Admin).
 */
@Entity('destination_rules')
export class DestinationRuleEntity {
  @PrimaryColumn('uuid') readonly id!: Uuid;

  /** The account to which it applies, or null for all. */
  @Column({ type: 'uuid', nullable: true, update: false }) readonly accountId!: Uuid | null;

  /** A plus sign and at least one digit. */
  @Column('text') readonly prefix!: string;

  @Column('text') readonly action!: DestinationAction;

  /** Restricted number kinds that an allow rule allows; empty for a block. */
  @Column('text', { array: true, default: '{}' }) readonly kinds!: readonly RestrictedKind[];

  /** Text for administrators. */
  @Column('text') readonly reason!: string;

  @Column({ type: 'text', update: false }) readonly origin!: 'admin' | 'guard';

  /** Time from which the rule no longer applies; null for never. */
  @TimeColumn({ nullable: true }) readonly until!: Date | null;

  /** Number of earlier blocks by the guard that are still counted. */
  @Column({ type: 'smallint', default: 0, update: false }) readonly strikes!: number;

  @TimeColumn({ default: () => 'clock_timestamp()', update: false }) readonly createdAt!: Date;
}

export type DestinationRule = Omit<DestinationRuleEntity, never>;

export const DESTINATION_RULES = new EntityTable<DestinationRuleEntity, DestinationRule>(DestinationRuleEntity);
