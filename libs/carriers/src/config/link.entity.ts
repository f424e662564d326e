import type { Uuid } from '@countersign/ids';
import type { SenderFormat } from '@countersign/phone';
import { CreatedAtColumn } from '@countersign/postgres';
import { Column, PrimaryColumn, VirtualColumn } from 'typeorm';
import type { SenderLearning } from '../senders/sender-learning.js';
import type { SubmitOptions } from '../submit-options/index.js';
import type { LinkAlphabet, MessageIdBase } from './carrier.js';

/** The columns that our binds and systems that connect in have in common. */
export abstract class LinkEntity {
  @PrimaryColumn('uuid') readonly id!: Uuid;

  /** Parts of one long message may arrive over any link of one carrier. */
  @Column('text') readonly carrier!: string;

  @Column('text', { default: 'gsm' }) readonly defaultAlphabet!: LinkAlphabet;

  /** The SMPP command status that makes this carrier send an MO again. By default ESME_RMSGQFUL (SMPP 3.4, 5.1.3). */
  @Column('integer', { default: 0x14 }) readonly retryableMoStatus!: number;

  /** Maximum number of our unanswered requests per connection. */
  @Column('integer', { default: 10 }) readonly sendWindow!: number;

  @Column('integer', { default: 30 }) readonly enquireLinkSeconds!: number;

  @Column('integer', { default: 10 }) readonly responseTimeoutSeconds!: number;

  /** How this carrier's receipts write the message ids of its responses. */
  @Column('text', { default: 'as-is' }) readonly messageIdBase!: MessageIdBase;

  /** Command statuses after which a submit may be retried. */
  @Column('integer', { array: true, default: '{8,20,88}' }) readonly temporaryStatuses!: readonly number[];

  /** The carrier's requirements on a submit_sm. */
  @Column('jsonb', { default: {} }) readonly submitOptions!: SubmitOptions;

  /** Only the MOs of a trusted link are evidence (contract, MO matching). */
  @Column('boolean', { default: false }) readonly trustedForMo!: boolean;

  /** The format of senders of unknown type (TON 0) that begin with neither a plus nor `00`. */
  @Column('text', { default: 'auto' }) readonly senderFormat!: SenderFormat;

  /** Sender evidence; null if there is none. Written by gateways only. */
  @VirtualColumn('json', {
    query: (link) =>
      `SELECT json_build_object('learned', learned, 'epoch', epoch) FROM sender_formats WHERE link_id = ${link}.id`,
  })
  readonly senderLearning!: SenderLearning | null;

  @Column('boolean', { default: true }) readonly enabled!: boolean;

  @CreatedAtColumn() readonly createdAt!: Date;
}

/** The common settings of our binds and of systems that connect in. */
export type LinkTerms = Omit<LinkEntity, 'id' | 'createdAt'>;
