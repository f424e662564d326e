import { BegunSignInStore, ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import { ControlPlaneSettings } from '@countersign/settings';
import { Controller, Get, HttpCode, Inject, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { parseRanges, inRanges } from '../targets/address-ranges.js';
import { RefusedRequest } from '../http/errors.js';
import { Operation } from '../http/operation.js';
import { QueryPipe } from '../http/query.pipe.js';
import { Access } from '../http/route-access.js';
import { LinkQuery } from './link.dto.js';
import { leadToConsole } from './session-cookie.js';
import { SignInService } from './sign-in.service.js';
import { ByVisitor, type Visitor } from './visitor.decorator.js';

const LOOPBACK = parseRanges(['127.0.0.0/8', '::1/128']);
const REFUSED = new RefusedRequest({
  code: 'NOT_FOUND',
  message: 'This link is not valid (any more): each start of npm start prints a new one, for one use.',
});

/** The link that `npm start` prints. In any other run there is nothing here. */
@Controller('console/api/sign-in/link')
export class LinkController {
  constructor(
    private readonly signIns: SignInService,
    private readonly begun: BegunSignInStore,
    private readonly sessions: ConsoleSessionStore,
    @Inject(ControlPlaneSettings)
    private readonly settings: Pick<ControlPlaneSettings, 'development' | 'adminKey'>,
  ) {}

  @Get()
  @HttpCode(303)
  @Access({ access: 'sign-in', body: 'none' })
  @Operation({
    id: 'signInWithLink',
    tag: 'Console',
    summary: 'Sign in with the link of a development run',
    description:
      'The `consoleUrl` of `npm start`: once, within an hour, from this machine and with NODE_ENV=development alone. Signs in as `root`.',
    answer: {
      status: 303,
      description: 'To the console or the quickstart of the account, with the cookie of the new session.',
    },
    open: true,
    errors: ['NOT_FOUND'],
  })
  async follow(
    @ByVisitor() visitor: Visitor,
    @Query(QueryPipe) { token, account }: LinkQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    if (!this.settings.development || !inRanges(visitor.clientAddress, LOOPBACK)) throw REFUSED;
    const keyDigests = this.sessions.keyDigestsOf(this.settings.adminKey);
    const holder = { memberId: null, adminKeyId: null, keyDigests, method: 'link' } as const;
    const opened = await this.signIns.open(visitor, async (tx) =>
      (await this.begun.take(tx, 'link', token)) === null ? null : holder,
    );
    if (opened === null) throw REFUSED;
    leadToConsole(reply, opened, account === undefined ? '' : `quickstart?account=${account}`);
  }
}
