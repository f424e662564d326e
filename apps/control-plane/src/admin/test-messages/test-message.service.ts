import { CarrierDirectory } from '@countersign/carriers/config';
import type { BindRecord } from '@countersign/carriers/records';
import { bindStatus } from '@countersign/carriers/status';
import { MAX_AN_HOUR, testMessageText } from '@countersign/carriers/test-messages';
import { AuditStore } from '@countersign/events';
import { renderId, type Uuid } from '@countersign/ids';
import { checkPhone, maskPhone, restrictedKindOf } from '@countersign/phone';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed, type Outcome } from '../../http/errors.js';
import { isTestNumber } from '../../test-numbers/test-number.js';
import { findBind } from '../binds/find-bind.js';
import type { Engineer } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import type { TestMessageDraft } from './test-message.dto.js';
import { TestMessageQueue } from './test-message.queue.js';
import type { TestMessageAnswer } from './test-message.view.js';

/** A message that was added, and its text. */
interface Added {
  readonly id: Uuid;
  readonly text: string;
}

/** Sends a message with a fixed text over a bind, to try it. */
@Injectable()
export class TestMessageService {
  constructor(
    private readonly database: Database,
    private readonly carriers: CarrierDirectory,
    private readonly audit: AuditStore,
    private readonly queue: TestMessageQueue,
  ) {}

  /** Resolves with the carrier's response, or when there is none in time. */
  async send(by: Engineer, bindId: string, { to, from }: TestMessageDraft): Promise<Outcome<Plain<TestMessageAnswer>>> {
    const check = checkPhone(to);
    if (!check.ok || isTestNumber(to)) return refuse('INVALID_PHONE', { field: 'to' });
    const kind = restrictedKindOf(to);
    if (kind !== null)
      return refuse('DESTINATION_BLOCKED', { message: `No test message is sent to a number of the kind ${kind}.` });
    const source = from ?? (await this.carriers.inboundNumberFor(check.country));
    if (source === null)
      return refuse('VALIDATION_ERROR', {
        message: 'from is required: no number of ours serves the country.',
        field: 'from',
      });
    const added = await this.add(by, bindId, { phone: to, source });
    if (!added.ok) return added;
    const { id, text } = added.value;
    return succeed({ ...(await this.queue.waitForResult(id)), from: source, text });
  }

  /** With its audit entry, which has the phone masked. */
  private async add(
    { actor, requestId }: Engineer,
    id: string,
    { phone, source }: { readonly phone: string; readonly source: string },
  ): Promise<Outcome<Added>> {
    return this.database.transaction(async (tx) => {
      const found = await findBind(tx, id);
      if (!found.ok) return found;
      const bind = found.value;
      const fault = whyNotSent(bind);
      if (fault !== null) return refuse('CONFLICT', { message: fault });
      const added = await this.queue.add(tx, { bindId: bind.id, phone, source });
      if (!added.ok) return tooMany(added.retryAfterSeconds);
      const about = { actor, requestId, action: 'send-test', resource: 'binds', resourceId: renderId('bind', bind.id) };
      await this.audit.append(tx, { ...about, before: null, after: { to: maskPhone(phone), from: source } });
      return succeed({ id: added.id, text: testMessageText(added) });
    });
  }
}

/** Null for a bind that can send now. */
function whyNotSent(bind: BindRecord): string | null {
  if (!bind.enabled) return 'This bind is disabled: enable it first.';
  if (bind.bindType === 'receiver') return 'This bind is a receiver: it sends nothing.';
  const isBound = bindStatus(bind, bind.slots).connections.some(({ state }) => state === 'bound');
  return isBound ? null : 'This bind has no bound connection: its history says why.';
}

const tooMany = (retryAfterSeconds: number): ReturnType<typeof refuse> =>
  refuse('RATE_LIMITED', {
    message: `At most ${MAX_AN_HOUR} test messages are sent in an hour, over all binds.`,
    retryAfterSeconds,
  });
