import type { Uuid } from '@countersign/ids';
import { CreatedAtColumn, EntityTable, TimeColumn } from '@countersign/postgres';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AdminRole } from './admin-key.js';

/** The row of an admin key: its keyed digest, never the key (contract, Admin). */
@Entity('admin_keys')
export class AdminKeyEntity {
  @PrimaryColumn('uuid') readonly id!: Uuid;

  /** Also the actor in the audit log. Unique among keys that are not revoked, in lower case. */
  @Column('text') readonly name!: string;

  @Column('text') readonly role!: AdminRole;

  /** E.164, of the holder: for the second step of a sign-in to the console. */
  @Column('text', { nullable: true }) readonly phone!: string | null;

  /** Its first characters, to recognise it. */
  @Column('text') readonly prefix!: string;

  @Column('bytea', { unique: true, select: false }) readonly digest!: Buffer;

  /** Version of the master key of the digest. */
  @Column('smallint', { default: 1, select: false }) readonly digestVersion!: number;

  /** Up to 10 s behind; null until the first use. */
  @TimeColumn({ nullable: true }) readonly lastUsedAt!: Date | null;

  @TimeColumn({ nullable: true }) readonly revokedAt!: Date | null;

  @CreatedAtColumn() readonly createdAt!: Date;
}

/** A stored admin key without its text. */
export type AdminKey = Omit<AdminKeyEntity, 'digest' | 'digestVersion' | 'createdAt'>;

export const ADMIN_KEYS = new EntityTable<AdminKeyEntity, AdminKey>(AdminKeyEntity);
