import { type ConsoleSession, ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import { parseId } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PageQuery } from '../admin/crud/paging.js';
import type { Plain } from '../admin/crud/plain.js';
import { NoBodyPipe } from '../http/body.pipe.js';
import { deleteCookie } from '../http/console-requests.js';
import { RefusedRequest } from '../http/errors.js';
import { Operation } from '../http/operation.js';
import { QueryPipe } from '../http/query.pipe.js';
import { Access, type SignedIn } from '../http/route-access.js';
import { ConsoleSessionList, consoleSessionView } from './console-session.view.js';
import { MeAnswer, meView } from './me.view.js';
import { SignInService } from './sign-in.service.js';
import { BySession } from './signed-in.decorator.js';

@Controller('console/api')
export class ConsoleSessionsController {
  constructor(
    private readonly database: Database,
    private readonly sessions: ConsoleSessionStore,
    private readonly signIns: SignInService,
  ) {}

  @Get('me')
  @Access({ access: 'console', body: 'none' })
  @Operation({
    id: 'getMe',
    tag: 'Console',
    summary: 'Show who is signed in',
    answer: { status: 200, description: 'The holder of the session.', type: MeAnswer },
    errors: [],
  })
  me(@BySession() session: SignedIn): Plain<MeAnswer> {
    return meView(session, this.sessions.csrfTokenOf(session.cookie));
  }

  @Post('sign-out')
  @HttpCode(204)
  @Access({ access: 'console', body: 'none' })
  @Operation({
    id: 'signOut',
    tag: 'Console',
    summary: 'Sign out',
    answer: { status: 204, description: 'The session has ended.' },
    errors: [],
  })
  async signOut(
    @BySession() session: SignedIn,
    @Body(NoBodyPipe) _nothing: null,
    @Req() { id }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.signIns.end(session, session, id);
    void reply.header('set-cookie', deleteCookie());
  }

  @Get('sessions')
  @Access({ access: 'console', body: 'none' })
  @Operation({
    id: 'listConsoleSessions',
    tag: 'Console',
    summary: 'List sessions of the console',
    description: 'Valid sessions: the own ones, for an owner of the installation those of everybody.',
    answer: { status: 200, description: 'A page of sessions, newest first.', type: ConsoleSessionList },
    errors: [],
  })
  async list(
    @BySession() session: SignedIn,
    @Query(QueryPipe) { limit, startingAfter }: PageQuery,
  ): Promise<Plain<ConsoleSessionList>> {
    const after = startingAfter === undefined ? null : parseId('csn', startingAfter);
    if (startingAfter !== undefined && after === null) throw WRONG_PAGE;
    const most = Number(limit);
    const page = { limit: most + 1, startingAfter: after, holder: session.role === 'owner' ? null : session };
    const found = await this.sessions.list(this.database, page);
    const data = found.slice(0, most).map((each) => consoleSessionView(each, session.id));
    return { data, hasMore: found.length > most };
  }

  @Delete('sessions')
  @HttpCode(204)
  @Access({ access: 'console', body: 'none' })
  @Operation({
    id: 'endOtherConsoleSessions',
    tag: 'Console',
    summary: 'End the other own sessions of the console',
    answer: { status: 204, description: 'They have ended.' },
    errors: [],
  })
  async endOthers(
    @BySession() session: SignedIn,
    @Body(NoBodyPipe) _nothing: null,
    @Req() { id }: FastifyRequest,
  ): Promise<void> {
    await this.signIns.endOthers(session, id);
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  @Access({ access: 'console', body: 'none' })
  @Operation({
    id: 'endConsoleSession',
    tag: 'Console',
    summary: 'End a session of the console',
    description: 'An own one; an owner of the installation ends any.',
    answer: { status: 204, description: 'It has ended.' },
    errors: ['NOT_FOUND'],
  })
  async end(
    @BySession() by: SignedIn,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
    @Req() { id: requestId }: FastifyRequest,
  ): Promise<void> {
    const uuid = parseId('csn', id);
    const session = uuid === null ? null : await this.sessions.get(this.database, uuid);
    if (session === null || !mayEnd(by, session)) throw UNKNOWN;
    await this.signIns.end(session, by, requestId);
  }
}

const WRONG_PAGE = new RefusedRequest({
  code: 'VALIDATION_ERROR',
  field: 'startingAfter',
  message: 'startingAfter must be an id that begins with csn_.',
});
const UNKNOWN = new RefusedRequest({ code: 'NOT_FOUND', message: 'There is no session with this id.' });

/** Members of accounts are never owners. */
const mayEnd = (by: ConsoleSession, { memberId, adminKeyId }: ConsoleSession): boolean =>
  by.role === 'owner' || (by.memberId === memberId && by.adminKeyId === adminKeyId);
