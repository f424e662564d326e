import { Body, Controller, Delete, Get, Headers, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { RawBodyRequest } from '@nestjs/common';
import {
  type CompletedEvent,
  type EndedEvent,
  parseFallbackUri,
  platformSmsUri,
  qrSvg,
  smsQrText,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from '@countersign/sdk';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../http/refusal.js';
import { type Advice, adviceOn, type Fault } from './advice.js';
import { CheckCode, Enter, StartLogin } from './demo.dto.js';
import { type Login, type LoginView, viewOf } from './login.js';
import type { Answer, LoginService } from './login.service.js';
import { streamLogin } from './login-stream.js';
import { Shop } from './shop.js';
import type { SignIn } from './sign-ins.js';
import { readTypedPhone } from './page/typed-phone.mjs';

const MOST_STREAMS = 500;
const ENDINGS: ReadonlySet<string> = new Set<(CompletedEvent | EndedEvent)['type']>([
  'verification.completed',
  'verification.denied',
  'verification.expired',
  'verification.cancelled',
]);
const STATUS_OF: Readonly<Record<string, number>> = {
  LOGIN_NOT_FOUND: 404,
  INVALID_PHONE: 422,
  INVALID_CODE: 422,
  OTHER_BROWSER: 403,
  UNREACHABLE: 502,
  NO_ACCOUNT: 503,
  TOO_MANY_LOGINS: 503,
  SERVICE_UNAVAILABLE: 503,
};

/** A login as shown to its browser, with the link in the form that its phone accepts. */
type ShownLogin = LoginView & {
  readonly sms: { readonly href: string; readonly number: string; readonly text: string } | null;
};
type Shown = { readonly login: ShownLogin } | { readonly problem: Advice };
interface Visit {
  readonly open: boolean;
  readonly signIn: SignIn | null;
}

/** The API of the shop's page, and the receiver of the service's webhooks. No API key is ever sent to the page. */
@Controller('demo')
export class DemoController {
  #streams = 0;

  constructor(@Inject(Shop) private readonly shop: Shop) {}

  @Get('api/visit')
  visit(@Headers('cookie') cookie?: string): Visit {
    return { open: this.shop.account !== null, signIn: this.shop.signIns.find(cookie) };
  }

  @Post('api/logins')
  async start(
    @Body() { phone: typed, challenge, channel }: StartLogin,
    @Headers('user-agent') agent: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Shown> {
    const phone = readTypedPhone(typed);
    if (phone === null) return problem(reply, { code: 'INVALID_PHONE' });
    return this.#act(reply, agent, (logins) => logins.start({ phone, challenge, channel }));
  }

  @Post('api/logins/:id/code')
  async sendCode(
    @Param('id') id: string,
    @Headers('user-agent') agent: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Shown> {
    return this.#act(reply, agent, (logins) => logins.sendCode(id));
  }

  @Post('api/logins/:id/check')
  async check(
    @Param('id') id: string,
    @Body() { code }: CheckCode,
    @Headers('user-agent') agent: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Shown> {
    return this.#act(reply, agent, (logins) => logins.checkCode(id, code));
  }

  @Delete('api/logins/:id')
  async cancel(
    @Param('id') id: string,
    @Headers('user-agent') agent: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Shown> {
    return this.#act(reply, agent, (logins) => logins.cancel(id));
  }

  /** Last step: the browser presents its secret and is signed in or refused. */
  @Post('api/logins/:id/enter')
  async enter(
    @Param('id') id: string,
    @Body() { secret }: Enter,
    @Headers('user-agent') agent: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Shown> {
    return this.#act(reply, agent, async (logins) => {
      const entered = await logins.enter(id, secret);
      if (entered.ok && entered.value.phase === 'signed_in') {
        reply.header('set-cookie', this.shop.signIns.add(signInOf(entered.value)));
      }
      return entered;
    });
  }

  @Post('api/sign-out')
  @HttpCode(204)
  signOut(@Headers('cookie') cookie: string | undefined, @Res({ passthrough: true }) reply: FastifyReply): void {
    reply.header('set-cookie', this.shop.signIns.remove(cookie));
  }

  /** The text as a QR code: an image, because the page's policy allows no generated code. */
  @Get('api/logins/:id/qr.svg')
  qr(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): string {
    const uri = this.shop.account?.logins.store.find(id)?.fallbackUri ?? null;
    if (uri === null) throw new Refusal(404, 'NOT_FOUND', 'there is nothing to scan');
    reply.type('image/svg+xml').header('cache-control', 'no-store');
    return qrSvg(smsQrText(uri));
  }

  @Get('api/logins/:id/events')
  watch(@Param('id') id: string, @Headers('user-agent') agent: string | undefined, @Res() reply: FastifyReply): void {
    const logins = this.shop.account?.logins;
    if (logins === undefined) throw new Refusal(503, 'NO_ACCOUNT', 'the shop has no account');
    if (this.#streams >= MOST_STREAMS) throw new Refusal(503, 'SERVICE_UNAVAILABLE', 'too many pages are open');
    reply.hijack();
    this.#streams += 1;
    reply.raw.once('close', () => (this.#streams -= 1));
    streamLogin(reply.raw, logins, id, (login) => shown(login, agent));
  }

  /** Unreadable webhooks are refused; readable ones of unknown sessions are acknowledged. */
  @Post('webhook')
  @HttpCode(204)
  async receiveWebhook(@Req() request: RawBodyRequest<FastifyRequest>): Promise<void> {
    const { account } = this.shop;
    if (account === null) throw new Refusal(503, 'NO_ACCOUNT', 'the shop has no account');
    try {
      const event = await verifyWebhook(request.rawBody ?? '', request.headers, account.webhookSecret);
      if (hasSession(event)) account.logins.applyWebhook(event.data);
    } catch (error) {
      if (error instanceof WebhookVerificationError) throw new Refusal(400, 'MALFORMED_REQUEST', error.message);
      throw error;
    }
  }

  async #act(
    reply: FastifyReply,
    agent: string | undefined,
    act: (logins: LoginService) => Promise<Answer<Login>>,
  ): Promise<Shown> {
    reply.status(200).header('cache-control', 'no-store');
    const logins = this.shop.account?.logins;
    if (logins === undefined) return problem(reply, { code: 'NO_ACCOUNT' });
    const result = await act(logins);
    return result.ok ? { login: shown(result.value, agent) } : problem(reply, result.fault);
  }
}

/** Events whose data is the Session. */
function hasSession(event: WebhookEvent): event is CompletedEvent | EndedEvent {
  return ENDINGS.has(event.type);
}

function problem(reply: FastifyReply, fault: Fault): Shown {
  reply.status(STATUS_OF[fault.code] ?? 409);
  return { problem: adviceOn(fault) };
}

function shown(login: Login, agent = ''): ShownLogin {
  const view = viewOf(login, Date.now());
  const message = view.fallbackUri === null ? null : parseFallbackUri(view.fallbackUri);
  if (view.fallbackUri === null || message === null) return { ...view, sms: null };
  return { ...view, sms: { ...message, href: platformSmsUri(view.fallbackUri, agent) } };
}

function signInOf({ phone, channel, code, latencyMs }: Login): SignIn {
  return { phone, proof: code.accepted ? 'code' : channel === 'rcs' ? 'card' : 'text', latencyMs };
}
