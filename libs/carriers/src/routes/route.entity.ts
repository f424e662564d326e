import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The row of a route (contract, Admin). */
@Entity('routes')
export class RouteEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  prefix!: string;

  @Column('uuid', { name: 'bind_id' })
  bindId!: string;

  @Column('integer', { default: 0 })
  priority!: number;

  @Column('integer', { default: 1 })
  weight!: number;

  @Column('numeric', { name: 'cost_usd', precision: 14, scale: 6, default: 0 })
  costUsd!: string;

  @Column('text', { name: 'source_address', nullable: true })
  sourceAddress!: string | null;

  @Column('boolean', { default: true })
  enabled!: boolean;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, default: () => 'clock_timestamp()' })
  createdAt!: Date;
}
