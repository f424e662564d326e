import type { SeededDemo } from '../support/demo.js';
import type { Phone } from '../support/phone.js';
import type { Answer, Api } from './api.js';
import type { CardPlatform } from './card-platform.js';
import type { CodeCarrier } from './carrier.js';
import { type CancelAnswer, type CheckAnswer, newSession, type SessionHistory } from './history.js';
import type { Random } from '../support/random.js';
import { repeat } from './repeat.js';

/** How long a step is repeated while the service is away. */
const STEP_MS = 90_000;
/** How long a phone waits for its code, and a caller for the end of a session with evidence. */
const CODE_MS = 60_000;
const END_MS = 30_000;
const TTL_SECONDS = 240;
const SHORT_TTL_SECONDS = 30;
const CHALLENGE = 'c'.repeat(64);
const OK = 0;

/** The scenarios, each as often as it is listed. */
const SCENARIOS = [
  'leave',
  'guess',
  'cancel',
  'race',
  'race',
  ...Array.from({ length: 4 }, () => 'card' as const),
  ...Array.from({ length: 10 }, () => 'code' as const),
  ...Array.from({ length: 9 }, () => 'sms' as const),
] as const;
type Scenario = (typeof SCENARIOS)[number];

/** Through which the users act. */
export interface Interfaces {
  readonly api: Pick<Api, 'call'>;
  /** Links of an aggregator, one to each gateway. */
  readonly links: readonly [Pick<Phone, 'send'>, ...Pick<Phone, 'send'>[]];
  readonly carrier: CodeCarrier;
  readonly cards: CardPlatform;
  readonly demo: SeededDemo;
}

interface Opened {
  readonly id: string;
  readonly text: string;
  /** Its card is on the phone. */
  readonly isCard: boolean;
}

/** One caller's backend with one person, who verify one phone after the other. */
export class User {
  constructor(
    private readonly to: Interfaces,
    private readonly random: Random,
  ) {}

  /** Opens a session for the phone and ends it in one of the ways; the history has every answer. */
  async verify(phone: string): Promise<SessionHistory> {
    const history = newSession(phone);
    const scenario = this.random.pick(SCENARIOS);
    if (this.random.chance(OTHER_TEXT_SHARE)) await this.sendText(history, 'Where is my order?');
    const opened = await this.create(history, scenario);
    if (opened === null) return history;
    switch (scenario) {
      case 'sms':
        await this.sendMessage(history, opened);
        await this.awaitEnd(history, opened);
        break;
      case 'card':
        await this.useCard(history, opened);
        break;
      case 'code':
        await this.useCode(history, opened, this.random.below(3));
        break;
      case 'guess':
        await this.useCode(history, opened, 7);
        break;
      case 'race':
        await Promise.all([this.sendMessage(history, opened), this.cancel(history, opened)]);
        await this.read(history, opened);
        break;
      case 'cancel':
        await this.cancel(history, opened);
        await this.read(history, opened);
        break;
      case 'leave':
        await this.read(history, opened);
    }
    return history;
  }

  private async create({ phone, ids }: SessionHistory, scenario: Scenario): Promise<Opened | null> {
    const { accountId, brandId } = this.to.demo;
    const ttl = scenario === 'leave' ? SHORT_TTL_SECONDS : TTL_SECONDS;
    const channel = scenario === 'card' ? 'rcs' : 'sms_fallback';
    if (channel === 'rcs') this.to.cards.enable(phone);
    const body = { phone, accountId, brandId, clientChallenge: CHALLENGE, channel, ttl };
    const answer = await this.post('/v1/verify', { body, key: `create ${phone}` }, ({ status, json }) => {
      if (status === 200) ids.add(String(json['id']));
    });
    if (answer?.status !== 200) return null;
    const uri = String(answer.json['fallbackUri']);
    const text = decodeURIComponent(uri.slice(uri.indexOf('body=') + 5));
    return { id: String(answer.json['id']), text, isCard: answer.json['channel'] === 'rcs' };
  }

  /** Sends the MO until it is accepted, sometimes once more, sometimes before from another phone. */
  private async sendMessage(history: SessionHistory, { text }: Opened): Promise<void> {
    if (this.random.chance(0.05)) await this.link().send({ from: FORGER, to: this.to.demo.inboundNumber, text });
    const repeats = this.random.chance(0.05) ? 2 : 1;
    for (let sent = 0; sent < repeats; sent += 1) await this.sendText(history, text);
  }

  /** Sends a text from the phone until it is accepted. */
  private async sendText(history: SessionHistory, text: string): Promise<void> {
    const to = this.to.demo.inboundNumber;
    await repeat(STEP_MS, async () => {
      const status = await this.link().send({ from: history.phone, to, text });
      history.messages.push(status);
      return status === OK ? true : null;
    });
  }

  /** Taps the card, sometimes while the SMS is sent too; sends the SMS if no card came in time. */
  private async useCard(history: SessionHistory, opened: Opened): Promise<void> {
    const choice = this.random.chance(DENY_SHARE) ? 'deny' : 'approve';
    const isBoth = this.random.chance(BOTH_SHARE);
    if (opened.isCard && this.to.cards.tap(history.phone, choice)) history.tap = { choice, acceptedAt: null };
    if (history.tap === null || isBoth) await this.sendMessage(history, opened);
    await this.awaitEnd(history, opened);
  }

  /** Requests a code, guesses some times, and then sends the code that came. */
  private async useCode(history: SessionHistory, opened: Opened, guesses: number): Promise<void> {
    const accepted = await this.post(`/v1/verify/${opened.id}/send-sms`, { body: {}, key: `code ${history.phone}` });
    if (accepted?.status !== 200) return;
    history.codeAccepted = true;
    const code = await repeat(CODE_MS, () => this.to.carrier.codesOf(history.phone).at(-1) ?? null);
    if (code === null) return;
    for (let made = 0; made < guesses; made += 1) await this.check(history, opened, otherThan(code));
    await repeat(STEP_MS, async () => ((await this.check(history, opened, code)) === 'unknown' ? null : true));
    await this.read(history, opened);
  }

  private async check(history: SessionHistory, { id }: Opened, code: string): Promise<CheckAnswer> {
    const answer = checkAnswerOf(await this.to.api.call(`/v1/verify/${id}/check`, { method: 'POST', body: { code } }));
    history.checks.push({ code, answer });
    return answer;
  }

  private async cancel(history: SessionHistory, { id }: Opened): Promise<void> {
    history.cancels.push(await cancelSession(this.to.api, id));
  }

  private async awaitEnd(history: SessionHistory, opened: Opened): Promise<void> {
    await repeat(END_MS, async () => ((await this.read(history, opened)) === 'ended' ? true : null));
  }

  private async read(history: SessionHistory, { id }: Opened): Promise<'pending' | 'ended' | 'unknown'> {
    const answer = await this.to.api.call(`/v1/verify/${id}`);
    if (answer?.status !== 200 && answer?.status !== 404) return 'unknown';
    const status = answer.status === 404 ? 'expired' : String(answer.json['status']);
    history.statuses.push(status);
    const entropy = answer.json['authEntropy'];
    if (typeof entropy === 'string') history.entropies.add(entropy);
    return status === 'pending' ? 'pending' : 'ended';
  }

  /** Repeats a POST with one idempotency key until it is answered other than 5xx, 409 (in progress) or 429. */
  private post(
    path: string,
    { body, key }: { readonly body: object; readonly key: string },
    onAnswer: (answer: Answer) => void = () => undefined,
  ): Promise<Answer | null> {
    return repeat(STEP_MS, async () => {
      const answer = await this.to.api.call(path, { method: 'POST', body, headers: { 'idempotency-key': key } });
      if (answer !== null) onAnswer(answer);
      const isFinal = answer !== null && answer.status < 500 && answer.status !== 429 && !isInProgress(answer);
      return isFinal ? answer : null;
    });
  }

  private link(): Pick<Phone, 'send'> {
    return this.random.pick(this.to.links);
  }
}

export async function cancelSession(api: Pick<Api, 'call'>, id: string): Promise<CancelAnswer> {
  const answer = await api.call(`/v1/verify/${id}`, { method: 'DELETE' });
  if (answer === null || answer.status >= 500) return 'unknown';
  return answer.status === 204 ? 'done' : 'refused';
}

/** Of the phones, those that also send a text without a token, which is stored and matches nothing. */
const OTHER_TEXT_SHARE = 0.6;

/** Of the taps, those on Deny, and those beside which the SMS is sent. */
const DENY_SHARE = 0.2;
const BOTH_SHARE = 0.1;

/** A phone that no session is of. */
const FORGER = '+12025550143';

const otherThan = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

const isInProgress = ({ status, json }: Answer): boolean =>
  status === 409 && JSON.stringify(json).includes('IDEMPOTENCY_IN_PROGRESS');

function checkAnswerOf(answer: Answer | null): CheckAnswer {
  if (answer === null || answer.status >= 500) return 'unknown';
  if (answer.status === 200) return 'approved';
  return JSON.stringify(answer.json).includes('INVALID_CODE') ? 'wrong' : 'refused';
}
