import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AdminRole } from './admin-key.js';

/** The row of an admin key: its keyed digest, never the key (contract, Admin). */
@Entity('admin_keys')
export class AdminKeyEntity {
  @PrimaryColumn('uuid')
  id!: string;

  /** Also the actor in the audit log. Unique among keys that are not revoked, in lower case. */
  @Column('text')
  name!: string;

  @Column('text')
  role!: AdminRole;

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
