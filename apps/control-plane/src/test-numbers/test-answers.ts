import { MessageStore, type NewInboundMessage } from '@countersign/carriers/inbound';
import { TEST_LINK_ID } from '@countersign/carriers/messages';
import { ServerKeys } from '@countersign/keys';
import { TON } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import { DatabaseClock, type Executor } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import type { InboundVerdict, Session } from '@countersign/session/rules';
import { deriveToken, fallbackText, findTokens } from '@countersign/session/tokens';
import { Injectable } from '@nestjs/common';
import { ACTS_AFTER_SECONDS, idWindow, type TestStep } from './test-step.js';
import { ACTING_NUMBERS, type TestAct } from './test-number.js';
import { LOCK_DUE_ANSWERS, type DueAnswer } from './test-numbers.sql.js';

/** Sessions in one transaction at most. */
const MAX_ANSWERS = 50;

const CARRIER = 'test';
const WRONG_SENDER = '+15005550000';
const NPI_ISDN = 1;

interface Sms {
  readonly session: Session;
  readonly sender: string;
  readonly text: string;
}

/**
 * Simulates the phones of test numbers with the code of live sessions: an SMS is matched by its token and stored with its
 * fate, a tap decides under the session's lock.
 */
@Injectable()
export class TestAnswers {
  constructor(
    private readonly clock: DatabaseClock,
    private readonly keys: ServerKeys,
    private readonly sessions: SessionStore,
    private readonly messages: MessageStore,
  ) {}

  /** Runs the actions of the phones that are due. */
  readonly runDueActions: TestStep = async (tx) => {
    const due = await this.lockDueAnswers(tx);
    if (due.length === 0) return { eventIds: [], count: 0, full: false };
    const events = [
      await this.receiveSms(tx, due),
      (
        await this.sessions.applyCardDecision(tx, {
          mode: 'test',
          trigger: 'approve',
          approvedBy: 'rcs',
          ids: idsOf(due, 'approve_card'),
        })
      ).eventIds,
      (
        await this.sessions.applyCardDecision(tx, {
          mode: 'test',
          trigger: 'deny',
          approvedBy: null,
          ids: idsOf(due, 'deny_card'),
        })
      ).eventIds,
    ];
    return { eventIds: events.flat(), count: due.length, full: due.length === MAX_ANSWERS };
  };

  private lockDueAnswers(tx: Executor): Promise<DueAnswer[]> {
    const { low, high } = idWindow(this.clock.nowMs());
    return tx.query<DueAnswer>(LOCK_DUE_ANSWERS, [
      ACTING_NUMBERS.map(({ phone }) => phone),
      ACTING_NUMBERS.map(({ channel }) => channel),
      ACTING_NUMBERS.map(({ act }) => act),
      ACTS_AFTER_SECONDS,
      low,
      high,
      MAX_ANSWERS,
    ]);
  }

  private async receiveSms(tx: Executor, due: readonly DueAnswer[]): Promise<Uuid[]> {
    const { sessions, messages } = this;
    const fromPhone = await sessions.findMany(tx, idsOf(due, 'sms'));
    const fromOtherPhone = await sessions.findMany(tx, idsOf(due, 'wrong_sender'));
    const sent = [
      ...fromPhone.map((session) => this.smsOf(session, session.phone)),
      ...fromOtherPhone.map((session) => this.smsOf(session, WRONG_SENDER)),
    ];
    if (sent.length === 0) return [];
    const evidence = sent.map(({ sender, text }) => {
      return { tokens: findTokens(text), senders: [sender], trusted: true };
    });
    const { eventIds } = await sessions.matchInbound(tx, 'test', evidence, (verdicts) =>
      messages.insertInbound(
        tx,
        sent.flatMap((sms, at) => {
          const verdict = verdicts[at];
          return verdict === undefined ? [] : [this.messageOf(sms, verdict)];
        }),
      ),
    );
    return eventIds;
  }

  /** The SMS that `fallbackUri` composes. */
  private smsOf(session: Session, sender: string): Sms {
    const { id, keyVersion, brandSlug, instruction } = session;
    return { session, sender, text: fallbackText(brandSlug, deriveToken(this.keys, id, keyVersion), instruction) };
  }

  private messageOf({ session, sender, text }: Sms, verdict: InboundVerdict): NewInboundMessage {
    const id = this.clock.newId();
    return {
      id,
      carrier: CARRIER,
      linkId: TEST_LINK_ID,
      source: sender.slice(1),
      sourceTon: TON.international,
      sourceNpi: NPI_ISDN,
      destination: session.inboundNumber.replace(/^\+/, ''),
      dataCoding: 0,
      textSealed: this.keys.seal('message-text', text, id),
      part: null,
      ...verdict,
    };
  }
}

const idsOf = (due: readonly DueAnswer[], act: TestAct): Uuid[] =>
  due.flatMap((each) => (each.act === act ? [each.id] : []));
