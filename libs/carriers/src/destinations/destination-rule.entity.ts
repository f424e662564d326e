import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DestinationAction } from './destination.js';

/** The row of a destination rule (contract, Admin). */
@Entity('destination_rules')
export class DestinationRuleEntity {
  @PrimaryColumn('uuid')
  id!: string;

  /** References accounts (libs/accounts). */
  @Column('uuid', { name: 'account_id', nullable: true })
  accountId!: string | null;

  @Column('text')
  prefix!: string;

  @Column('text')
  action!: DestinationAction;

  /** Restricted number kinds that an allow rule allows. */
  @Column('text', { array: true, default: '{}' })
  kinds!: string[];

  @Column('text')
  reason!: string;

  @Column('text')
  origin!: 'admin' | 'guard';

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  until!: Date | null;

  @Column('smallint', { default: 0 })
  strikes!: number;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, default: () => 'clock_timestamp()' })
  createdAt!: Date;
}
