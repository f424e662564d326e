import type { Uuid } from '@countersign/ids';
import { CreatedAtColumn, EntityTable, TimeColumn } from '@countersign/postgres';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MemberRole } from './member.js';

/** A person who may sign in to the console (contract, Admin): of the installation, or of one account. */
@Entity('members')
export class MemberEntity {
  @PrimaryColumn('uuid') readonly id!: Uuid;

  @Column('text') readonly name!: string;

  /** E.164. Unique among members of accounts, who sign in with it. */
  @Column('text', { nullable: true }) readonly phone!: string | null;

  /** Unique in lower case. The first sign-in with this address, verified by the provider, sets the OIDC identity. */
  @Column('text', { nullable: true }) readonly email!: string | null;

  @Column('text') readonly role!: MemberRole;

  /** Null for a member of the installation. */
  @Column({ type: 'uuid', nullable: true, update: false }) readonly accountId!: Uuid | null;

  @Column('text', { nullable: true }) readonly oidcIssuer!: string | null;

  @Column('text', { nullable: true }) readonly oidcSubject!: string | null;

  @TimeColumn({ nullable: true }) readonly lastSignInAt!: Date | null;

  @Column('boolean', { default: true }) readonly active!: boolean;

  @CreatedAtColumn() readonly createdAt!: Date;
}

export type Member = Omit<MemberEntity, 'createdAt'>;

export const MEMBERS = new EntityTable<MemberEntity, Member>(MemberEntity, 'accountId');
