import type { Uuid } from '@countersign/ids';
import { CreatedAtColumn, EntityTable } from '@countersign/postgres';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A number to which phones send (contract, Admin). */
@Entity('inbound_numbers')
export class InboundNumberEntity {
  @PrimaryColumn('uuid') readonly id!: Uuid;

  /** E.164, or a short code of 3 to 8 digits. */
  @Column('text', { unique: true }) readonly number!: string;

  /** ISO 3166-1 alpha-2 codes of the countries that it serves; `*` for all. */
  @Column('text', { array: true }) readonly countries!: readonly string[];

  /** The brand for which it is reserved, or null. */
  @Column('uuid', { nullable: true }) readonly brandId!: Uuid | null;

  @CreatedAtColumn() readonly createdAt!: Date;
}

export type InboundNumber = Omit<InboundNumberEntity, 'createdAt'>;

export const INBOUND_NUMBERS = new EntityTable<InboundNumberEntity, InboundNumber>(InboundNumberEntity);
