import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The row where a carrier's response and its receipt meet, whichever comes first. */
@Entity('submissions')
export class SubmissionEntity {
  @PrimaryColumn('text')
  carrier!: string;

  /** As `canonicalId` has it. */
  @PrimaryColumn('text', { name: 'smsc_message_id' })
  smscMessageId!: string;

  /** Null until the response has come. */
  @Column('uuid', { name: 'message_id', nullable: true })
  messageId!: string | null;

  /** Null until the receipt has come. */
  @Column('text', { name: 'receipt_state', nullable: true })
  receiptState!: 'delivered' | 'undelivered' | null;

  @Column('text', { name: 'network_error', nullable: true })
  networkError!: string | null;

  @Column({ type: 'timestamptz', name: 'updated_at', precision: 3 })
  updatedAt!: Date;
}
