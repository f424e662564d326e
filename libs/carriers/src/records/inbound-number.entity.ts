import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The row of an inbound number (contract, Admin). */
@Entity('inbound_numbers')
export class InboundNumberEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text', { unique: true })
  number!: string;

  @Column('text', { array: true })
  countries!: string[];

  /** References brands (libs/accounts). */
  @Column('uuid', { name: 'brand_id', nullable: true })
  brandId!: string | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, default: () => 'clock_timestamp()' })
  createdAt!: Date;
}
