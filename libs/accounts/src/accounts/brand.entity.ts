import type { Uuid } from '@countersign/ids';
import { CreatedAtColumn, EntityTable, TimeColumn } from '@countersign/postgres';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A brand (contract, Admin): the identity that end users see: name, slug in the token, line below it. */
@Entity('brands')
export class BrandEntity {
  @PrimaryColumn('uuid') readonly id!: Uuid;

  @Column({ type: 'uuid', update: false }) readonly accountId!: Uuid;

  @Column('text') readonly name!: string;

  @Column('text', { unique: true }) readonly slug!: string;

  @Column('text') readonly instruction!: string;

  @Column('text', { nullable: true }) readonly logoUrl!: string | null;

  @Column('text', { nullable: true }) readonly rcsAgentId!: string | null;

  /** Whether the card asks for the number shown in the browser. */
  @Column('boolean', { default: false }) readonly rcsNumberMatching!: boolean;

  /** Default sender of codes for routes without one: E.164, a short code, or up to 11 letters and digits. */
  @Column('text', { nullable: true }) readonly senderId!: string | null;

  /** The site on which phones fill in a code (web OTP). */
  @Column('text', { nullable: true }) readonly domain!: string | null;

  /** The entropy key version at creation; it never changes. */
  @Column({ type: 'integer', update: false }) readonly entropyKeyVersion!: number;

  @Column('boolean', { default: true }) readonly active!: boolean;

  /** The name that the account requested; null when it requested none. */
  @Column('text', { nullable: true }) readonly requestedName!: string | null;

  @Column('text', { nullable: true }) readonly requestedSlug!: string | null;

  /** When the account last changed its request; null without one. */
  @TimeColumn({ nullable: true }) readonly requestedAt!: Date | null;

  /** When the last request was refused; null since the next one. */
  @TimeColumn({ nullable: true }) readonly requestRefusedAt!: Date | null;

  @CreatedAtColumn() readonly createdAt!: Date;
}

export type Brand = Omit<BrandEntity, 'createdAt'>;

export const BRANDS = new EntityTable<BrandEntity, Brand>(BrandEntity, 'accountId');
