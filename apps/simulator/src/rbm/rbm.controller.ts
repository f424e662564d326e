import { randomUUID } from 'node:crypto';
import { Body, Controller, Delete, Get, Headers, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Fields } from './agent-message.js';
import { agentIdOf } from './agents.js';
import { memberOf } from './own-member.js';
import { RbmService } from './rbm.service.js';
import { invalid, RpcRefusal, unreachable } from '../http/rpc-refusal.js';

const PHONE = /^\+[1-9][0-9]{1,14}$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const MOST_USERS = 10_000;
const FILE_ID_CHARACTERS = 8;
/** A send without an answer is closed after this time. */
const MUTE_MS = 60_000;

/** The RBM API as its callers see it (RBM REST reference, v1). Refusals are google.rpc errors. */
@Controller()
export class RbmController {
  constructor(@Inject(RbmService) private readonly rbm: RbmService) {}

  @Post('token')
  exchange(@Body() form: unknown, @Res() reply: FastifyReply): void {
    const { tokenStatus, tokenSeconds } = this.rbm.switches.current;
    if (tokenStatus !== null) {
      void reply
        .status(tokenStatus)
        .send({ error: 'server_error', error_description: 'the simulator is set to answer with this status' });
      return;
    }
    const answer = this.rbm.tokens.exchange(form, tokenSeconds);
    if (answer.ok) {
      const { accessToken: access_token, seconds: expires_in } = answer;
      void reply.status(200).send({ access_token, expires_in, token_type: 'Bearer' });
    } else void reply.status(400).send({ error: 'invalid_grant', error_description: answer.because });
  }

  @Get('v1/phones/:phone/capabilities')
  capabilities(
    @Param('phone') phone: string,
    @Query() { agentId, requestId }: Fields,
    @Headers('authorization') authorization?: string,
  ): { features: readonly string[] } {
    this.callerOf(agentId, authorization);
    phoneOf(phone);
    if (requestId !== undefined) uuidOf('requestId', requestId);
    const { reachable, features } = this.rbm.phones.profileOf(phone);
    if (!reachable) throw unreachable();
    return { features };
  }

  @Post('v1/phones/:phone/agentMessages')
  async send(
    @Param('phone') phone: string,
    @Query() query: Fields,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
    @Headers('authorization') authorization?: string,
  ): Promise<void> {
    const agentId = this.callerOf(query['agentId'], authorization);
    const messageId = uuidOf('messageId', query['messageId']);
    const { resource, mute } = this.rbm.platform.send({ agentId, phone: phoneOf(phone), messageId, body });
    if (mute) {
      reply.hijack();
      const timer = setTimeout(() => reply.raw.destroy(), MUTE_MS).unref();
      reply.raw.once('close', () => clearTimeout(timer));
      return;
    }
    const { sendDelayMs } = this.rbm.switches.current;
    if (sendDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, sendDelayMs));
    void reply.status(200).send(resource);
  }

  @Delete('v1/phones/:phone/agentMessages/:messageId')
  revoke(
    @Param() { phone, messageId }: Record<'phone' | 'messageId', string>,
    @Query() { agentId: agent }: Fields,
    @Headers('authorization') authorization?: string,
  ): object {
    const agentId = this.callerOf(agent, authorization);
    this.rbm.platform.revoke(agentId, phoneOf(phone), uuidOf('messageId', messageId));
    return {};
  }

  /** Read and typing events of the agent: accepted and ignored. */
  @Post('v1/phones/:phone/agentEvents')
  @HttpCode(200)
  event(
    @Param('phone') phone: string,
    @Query() { agentId, eventId }: Fields,
    @Body() body: unknown,
    @Headers('authorization') authorization?: string,
  ): object {
    this.callerOf(agentId, authorization);
    const id = uuidOf('eventId', eventId);
    const eventType = memberOf(body, 'eventType');
    if (eventType !== 'READ' && eventType !== 'IS_TYPING') throw invalid('event_type must be READ or IS_TYPING.');
    if (!this.rbm.phones.profileOf(phoneOf(phone)).reachable) throw unreachable();
    return { name: `phones/${phone}/agentEvents/${id}`, eventType, sendTime: new Date().toISOString() };
  }

  @Post('v1/phones/:phone/testers')
  @HttpCode(200)
  tester(
    @Param('phone') phone: string,
    @Query() { agentId }: Fields,
    @Headers('authorization') authorization?: string,
  ): object {
    this.callerOf(agentId, authorization);
    return { name: `phones/${phoneOf(phone)}/testers`, inviteStatus: 'ACCEPTED' };
  }

  /** `users:batchGet` and `files`: the router does not support a colon in a path. */
  @Post('v1/:method')
  @HttpCode(200)
  collective(
    @Param('method') method: string,
    @Query() { agentId }: Fields,
    @Body() body: unknown,
    @Headers('authorization') authorization?: string,
  ): object {
    this.callerOf(agentId ?? memberOf(body, 'agentId'), authorization);
    if (method === 'files') return { name: `files/${randomUUID().slice(0, FILE_ID_CHARACTERS)}` };
    if (method !== 'users:batchGet') throw new RpcRefusal(404, 'Method not found.');
    const users = memberOf(body, 'users');
    if (!Array.isArray(users) || users.length > MOST_USERS) throw invalid(`users must be at most ${MOST_USERS}.`);
    const reachableUsers = users.map(phoneOf).filter((phone) => this.rbm.phones.profileOf(phone).reachable);
    return { reachableUsers, totalRandomSampleUserCount: 0, reachableRandomSampleUserCount: 0 };
  }

  /** The agent of a call, after the caller's token has been checked. */
  private callerOf(agent: unknown, authorization: string | undefined): string {
    if (!this.rbm.tokens.accepts(authorization))
      throw new RpcRefusal(401, 'Request had invalid authentication credentials. Expected OAuth 2 access token.');
    const agentId = agentIdOf(agent);
    if (agentId === null) throw invalid('agent_id is required.');
    const { agents } = this.rbm.switches.current;
    if (agents !== null && !agents.some((owned) => agentIdOf(owned) === agentId)) {
      throw new RpcRefusal(
        403,
        `There was an error looking up the RBM agent (ID: ${agentId}) that corresponds to the Google Cloud Platform (GCP) project you're authenticating with.`,
      );
    }
    return agentId;
  }
}

function phoneOf(text: unknown): string {
  if (typeof text !== 'string' || !PHONE.test(text)) throw invalid('The phone number must be in E.164 format.');
  return text;
}

function uuidOf(name: string, value: unknown): string {
  if (typeof value !== 'string' || !UUID.test(value)) throw invalid(`${name} must be a UUID.`);
  return value;
}
