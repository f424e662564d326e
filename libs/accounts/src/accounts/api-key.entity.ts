import type { Uuid } from '@countersign/ids';
import type { Mode } from '@countersign/keys';
import { CreatedAtColumn, EntityTable, TimeColumn } from '@countersign/postgres';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { KeyLimits, Scope } from './account.js';

/** The row of an API key: its keyed digest, never the key (contract, Authentication). */
@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn('uuid') readonly id!: Uuid;

  @Column('uuid') readonly accountId!: Uuid;

  @Column('text') readonly kind!: Mode;

  @Column('text') readonly name!: string;

  @Column('text', { array: true }) readonly scopes!: readonly Scope[];

  @Column('jsonb', { default: {} }) readonly limits!: KeyLimits;

  /**
   * The key whose quota the requests of this one use: that which made it, or the one that made that. The account's id for keys
   * that members made, which share one for each mode. Null for a quota of its own.
   */
  @Column('uuid', { nullable: true }) readonly quotaId!: Uuid | null;

  /** Its first characters, to recognise it. */
  @Column('text') readonly prefix!: string;

  @Column('bytea', { unique: true, select: false }) readonly digest!: Buffer;

  /** Version of the master key of the digest. */
  @Column('smallint', { default: 1, select: false }) readonly digestVersion!: number;

  /**
   * The member of the account who knows the text: a console session, or a key, of that member made or last rotated it. Null for an
   * owner's. It stays when the member is deleted.
   */
  @Column({ type: 'uuid', nullable: true }) readonly memberId!: Uuid | null;

  /** Some seconds behind; null until the first use. */
  @TimeColumn({ nullable: true }) readonly lastUsedAt!: Date | null;

  @TimeColumn({ nullable: true }) readonly revokedAt!: Date | null;

  @CreatedAtColumn() readonly createdAt!: Date;
}

/** A key without its secret. */
export type ApiKey = Omit<ApiKeyEntity, 'digest' | 'digestVersion' | 'createdAt'>;

export const API_KEYS = new EntityTable<ApiKeyEntity, ApiKey>(ApiKeyEntity, 'accountId');
