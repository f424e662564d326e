import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post, Query } from '@nestjs/common';
import { BodyPipe, NoBodyPipe } from '../http/body.pipe.js';
import { CallerKey } from '../http/caller.decorator.js';
import { CSV } from '../http/csv-answer.js';
import { valueOf } from '../http/errors.js';
import { Operation } from '../http/operation.js';
import { PauseDeadline, type PausedWait } from '../http/pause-deadline.decorator.js';
import { QueryPipe } from '../http/query.pipe.js';
import { Access } from '../http/route-access.js';
import { SeesPeople } from '../http/sees-people.decorator.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { Idempotent, type IdempotentCall } from '../idempotency/idempotent-call.decorator.js';
import { CreateVerification } from './create-verification.dto.js';
import { ListVerifications } from './list-verifications.dto.js';
import { APPROVED_SESSION, CreatedSession, PENDING_SESSION, SessionAnswer, SessionListAnswer } from './session.view.js';
import { VerifyService } from './verify.service.js';

const JSON_TEXT = 'application/json; charset=utf-8';

/** The renderer's JSON text is sent unchanged, so that metadata keeps the order of its keys. */
@Controller('v1/verify')
export class VerifyController {
  constructor(
    private readonly verify: VerifyService,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Post()
  @HttpCode(200)
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'verify', body: 'json', policy: 'create' })
  @Operation({
    id: 'createVerification',
    tag: 'Verifications',
    summary: 'Open a session',
    description:
      'Opens a session for a phone number and sends it a card over RCS, if the brand has an agent for it. The answer waits until it is known whether the card arrived: mostly some hundred milliseconds, a few seconds if the phone is offline, under half a second if no card can be sent. `channel` is `rcs` if the card arrived; else it is `sms_fallback`, and `fallbackUri` is the link for a “tap to verify” button. A card never makes a create fail. `"channel":"sms_fallback"` in the request sends no card.',
    answer: { status: 200, description: 'The session, pending.', type: CreatedSession, example: PENDING_SESSION },
    errors: [
      'INVALID_PHONE',
      'INVALID_BRAND',
      'INVALID_WEBHOOK_URL',
      'IDEMPOTENCY_IN_PROGRESS',
      'IDEMPOTENCY_KEY_REUSED',
    ],
  })
  async create(
    @CallerKey() caller: ApiKeyPrincipal,
    @Idempotent() call: IdempotentCall,
    @PauseDeadline() pausedWait: PausedWait,
    @Body(BodyPipe) body: CreateVerification,
  ): Promise<string> {
    return valueOf(await this.idempotency.run(call, (id) => this.verify.create(caller, body, pausedWait, id)));
  }

  @Get()
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'verify', body: 'none' })
  @Operation({
    id: 'listVerifications',
    tag: 'Verifications',
    summary: 'List sessions',
    description:
      'Sessions of the account, newest first and without `authEntropy`, including expired ones. A test key lists test sessions, a live key live ones.',
    answer: { status: 200, description: 'One page of sessions.', type: SessionListAnswer, alsoAs: CSV },
    errors: ['INVALID_PHONE'],
  })
  async list(
    @CallerKey() caller: ApiKeyPrincipal,
    @SeesPeople() seesPeople: boolean,
    @Query(QueryPipe) query: ListVerifications,
  ): Promise<string> {
    return valueOf(await (seesPeople ? this.verify.list(caller, query) : this.verify.listMasked(caller, query)));
  }

  @Get(':sessionId')
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'verify', body: 'none', policy: 'poll', keyOnly: true })
  @Operation({
    id: 'getVerification',
    tag: 'Verifications',
    summary: 'Fetch a session',
    description:
      'The session as it is now, with `approvedAt`, `latencyMs` and `authEntropy` once approved. An expired session is not found. Webhooks and the WebSocket channel report changes sooner.',
    answer: { status: 200, description: 'The session.', type: SessionAnswer, example: APPROVED_SESSION },
    errors: ['SESSION_NOT_FOUND'],
  })
  async find(@CallerKey() caller: ApiKeyPrincipal, @Param('sessionId') sessionId: string): Promise<string> {
    return valueOf(await this.verify.find(caller, sessionId));
  }

  @Post(':sessionId/consume')
  @HttpCode(200)
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'verify', body: 'none' })
  @Operation({
    id: 'consumeVerification',
    tag: 'Verifications',
    summary: 'Use an approved session once',
    description:
      'Returns an approved session and marks it as used: exactly one call ever succeeds, so one approval signs one user in once, whatever is replayed to your backend. Check `clientChallenge` before you call it. If the answer was lost, do not call again but create a new session.',
    answer: { status: 200, description: 'The session, approved.', type: SessionAnswer, example: APPROVED_SESSION },
    errors: ['SESSION_NOT_FOUND', 'SESSION_NOT_APPROVED', 'SESSION_CONSUMED'],
  })
  async consume(
    @CallerKey() caller: ApiKeyPrincipal,
    @Param('sessionId') sessionId: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<string> {
    return valueOf(await this.verify.consume(caller, sessionId));
  }

  @Delete(':sessionId')
  @HttpCode(204)
  @Access({ access: 'key', scope: 'verify', body: 'none' })
  @Operation({
    id: 'cancelVerification',
    tag: 'Verifications',
    summary: 'Cancel a session',
    description: 'Ends a pending session. A session that has ended or expired stays as it is.',
    answer: { status: 204, description: 'The session has ended.' },
    errors: ['SESSION_NOT_FOUND'],
  })
  async cancel(
    @CallerKey() caller: ApiKeyPrincipal,
    @Param('sessionId') sessionId: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<void> {
    valueOf(await this.verify.cancel(caller, sessionId));
  }
}
