import { deriveToken } from '@countersign/session/tokens';
import type { Uuid } from '@countersign/ids';
import { Agent } from 'undici';
import { AdminCalls, idOf } from './admin-calls.js';
import { ConsoleBrowser } from './console-browser.js';
import { type Answer, type Call, type ControlPlaneHarness, ownAddress } from './control-plane-harness.js';

const COOKIE = '__Host-countersign-phone';

interface SignInSession {
  readonly id: Uuid;
  readonly slug: string;
  readonly phone: string;
  readonly inboundNumber: string;
}

/** A browser that signs in with a phone, and that phone. */
export class PhoneBrowser extends ConsoleBrowser {
  /** An address of its own, since one address begins five sign-ins; no connection stays open. */
  private readonly line = new Agent({
    pipelining: 0,
    connect: { rejectUnauthorized: false },
    localAddress: ownAddress(),
  });

  constructor(
    private readonly home: ControlPlaneHarness,
    readonly phone: string,
  ) {
    super(home);
  }

  override call(path: string, call: Call = {}): Promise<Answer> {
    return super.call(path, { dispatcher: this.line, ...call });
  }

  get signInCookie(): string | undefined {
    return this.cookies.get(COOKIE);
  }

  set signInCookie(value: string | undefined) {
    this.cookies.set(COOKIE, value ?? '');
  }

  begin(call: Call = {}): Promise<Answer> {
    return this.call('sign-in/phone', { method: 'POST', body: { phone: this.phone }, ...call });
  }

  /** Signs in with the SMS of the link. */
  async signInByPhone(): Promise<this> {
    await this.begin();
    await this.sendSms();
    const { status, json, text } = await this.state();
    if (status !== 200) throw new Error(`the sign-in was answered ${String(status)}: ${text}`);
    this.csrfToken = String(Reflect.get(Object(json['me']), 'csrfToken'));
    return this;
  }

  state(): Promise<Answer> {
    return this.call('sign-in/phone');
  }

  sendCode(): Promise<Answer> {
    return this.call('sign-in/phone/send-code', { method: 'POST' });
  }

  check(code: string): Promise<Answer> {
    return this.call('sign-in/phone/check', { method: 'POST', body: { code } });
  }

  /** The SMS of the link arrives from `sender`, over a trusted carrier. */
  async sendSms(sender = this.phone): Promise<string> {
    const { database, keys, sessions } = this.home;
    const { id, slug } = await this.session();
    const evidence = { tokens: [{ slug, token: deriveToken(keys, id) }], senders: [sender], trusted: true };
    const { verdicts } = await database.transaction((tx) => sessions.matchInbound(tx, 'live', [evidence]));
    return String(verdicts[0]?.fate);
  }

  /** The codes that were queued to the phone, oldest first. */
  async codes(): Promise<string[]> {
    const rows = await this.home.database.query<{ id: string; sealed: Buffer }>(
      'SELECT id, text_sealed AS sealed FROM outbound_messages WHERE destination = $1 ORDER BY id',
      [this.phone],
    );
    return rows.map(({ id, sealed }) => this.home.keys.open('message-text', sealed, id).toString('utf8').slice(0, 6));
  }

  /** The latest verification of the phone. */
  async session(): Promise<SignInSession> {
    const [row] = await this.home.database.query<SignInSession>(
      `SELECT id, brand_slug AS slug, phone, inbound_number AS "inboundNumber" FROM sessions WHERE phone = $1
       ORDER BY id DESC LIMIT 1`,
      [this.phone],
    );
    if (row === undefined) throw new Error('no verification was begun');
    return row;
  }
}

/** Adds members of the demo account, each with a number of its own. */
export class PhoneMembers {
  private readonly root: AdminCalls;

  /** @param numbers the end of the first number */
  constructor(
    private readonly harness: ControlPlaneHarness,
    private numbers = 3_000,
  ) {
    this.root = new AdminCalls(harness);
  }

  async add(
    role = 'developer',
    accountId = this.harness.demo.accountId,
  ): Promise<{ id: string; browser: PhoneBrowser }> {
    const browser = this.stranger();
    const member = await this.root.post('members', { name: `Dev ${role}`, role, accountId, phone: browser.phone });
    return { id: idOf(member), browser };
  }

  /** A new member's browser that has signed in. */
  async signedIn(role?: string, accountId?: string): Promise<{ id: string; browser: PhoneBrowser }> {
    const member = await this.add(role, accountId);
    await member.browser.signInByPhone();
    return member;
  }

  /** A browser with a number that is nobody's. */
  stranger(): PhoneBrowser {
    return new PhoneBrowser(this.harness, `+1415555${String(this.numbers++)}`);
  }
}
