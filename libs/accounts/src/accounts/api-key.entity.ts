import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { AccountEntity } from './account.entity.js';
import type { KeyLimits, Scope } from './account.js';

/** The row of an API key: its keyed digest, never the key (contract, Authentication). */
@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'account_id' })
  accountId!: string;

  @ManyToOne(() => AccountEntity)
  @JoinColumn({ name: 'account_id' })
  account?: Relation<AccountEntity>;

  @Column('text')
  kind!: 'live' | 'test';

  @Column('text')
  name!: string;

  @Column('text', { array: true })
  scopes!: Scope[];

  @Column('jsonb', { default: {} })
  limits!: KeyLimits;

  /** The part of the key that listings show. */
  @Column('text')
  prefix!: string;

  @Column('bytea', { unique: true, select: false })
  digest!: Buffer;

  /** Version of the master key of the digest. */
  @Column('smallint', { name: 'digest_version', default: 1, select: false })
  digestVersion!: number;

  @Column({ type: 'timestamptz', name: 'last_used_at', precision: 3, nullable: true })
  lastUsedAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'revoked_at', precision: 3, nullable: true })
  revokedAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, default: () => 'clock_timestamp()' })
  createdAt!: Date;
}
