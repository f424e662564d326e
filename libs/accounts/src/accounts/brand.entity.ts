import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { AccountEntity } from './account.entity.js';

/** The row of a brand (contract, Admin). */
@Entity('brands')
export class BrandEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'account_id' })
  accountId!: string;

  @ManyToOne(() => AccountEntity)
  @JoinColumn({ name: 'account_id' })
  account?: Relation<AccountEntity>;

  @Column('text')
  name!: string;

  @Column('text', { unique: true })
  slug!: string;

  @Column('text')
  instruction!: string;

  @Column('text', { name: 'logo_url', nullable: true })
  logoUrl!: string | null;

  @Column('text', { name: 'rcs_agent_id', nullable: true })
  rcsAgentId!: string | null;

  @Column('boolean', { name: 'rcs_number_matching', default: false })
  rcsNumberMatching!: boolean;

  @Column('text', { name: 'sender_id', nullable: true })
  senderId!: string | null;

  @Column('text', { nullable: true })
  domain!: string | null;

  @Column('integer', { name: 'entropy_key_version' })
  entropyKeyVersion!: number;

  @Column('boolean', { default: true })
  active!: boolean;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, default: () => 'clock_timestamp()' })
  createdAt!: Date;
}
