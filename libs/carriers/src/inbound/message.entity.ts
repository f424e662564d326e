import { TimeColumn } from '@countersign/postgres';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MessageFate } from './message.js';

/** The row of an inbound message, partitioned by id. Its text is sealed. */
@Entity('messages')
export class MessageEntity {
  @PrimaryColumn('uuid') readonly id!: string;

  @Column('text') readonly direction!: 'in' | 'out';

  @Column('text') readonly carrier!: string;

  /** The id of the bind or system. */
  @Column('uuid') readonly linkId!: string;

  @Column('text') readonly source!: string;

  @Column('smallint') readonly sourceTon!: number;

  @Column('smallint') readonly sourceNpi!: number;

  @Column('text') readonly destination!: string;

  @Column('smallint') readonly dataCoding!: number;

  /** Sealed with the message's id as context. */
  @Column('bytea', { select: false }) readonly textSealed!: Buffer;

  @Column('smallint', { nullable: true }) readonly partNumber!: number | null;

  @Column('smallint', { nullable: true }) readonly partTotal!: number | null;

  @Column('text') readonly fate!: MessageFate;

  @Column('uuid', { nullable: true }) readonly sessionId!: string | null;

  @Column('uuid', { nullable: true }) readonly accountId!: string | null;

  @TimeColumn({ default: () => 'clock_timestamp()' }) readonly receivedAt!: Date;
}
