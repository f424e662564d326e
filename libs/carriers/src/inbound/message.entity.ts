import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MessageFate } from './message.js';

/** The row of an inbound message, partitioned by id. Its text is sealed. */
@Entity('messages')
export class MessageEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  direction!: 'in' | 'out';

  @Column('text')
  carrier!: string;

  /** The id of the bind or system. */
  @Column('uuid', { name: 'link_id' })
  linkId!: string;

  @Column('text')
  source!: string;

  @Column('smallint', { name: 'source_ton' })
  sourceTon!: number;

  @Column('smallint', { name: 'source_npi' })
  sourceNpi!: number;

  @Column('text')
  destination!: string;

  @Column('smallint', { name: 'data_coding' })
  dataCoding!: number;

  /** Sealed with the message's id as context. */
  @Column('bytea', { name: 'text_sealed', select: false })
  textSealed!: Buffer;

  @Column('smallint', { name: 'part_number', nullable: true })
  partNumber!: number | null;

  @Column('smallint', { name: 'part_total', nullable: true })
  partTotal!: number | null;

  @Column('text')
  fate!: MessageFate;

  @Column('uuid', { name: 'session_id', nullable: true })
  sessionId!: string | null;

  @Column('uuid', { name: 'account_id', nullable: true })
  accountId!: string | null;

  @Column({ type: 'timestamptz', name: 'received_at', precision: 3, default: () => 'clock_timestamp()' })
  receivedAt!: Date;
}
