import type { Mode } from '@countersign/keys';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AnswerObserver } from '../operations/answer.observer.js';
import type { AnsweredCall } from '../operations/request.recorder.js';
import { isAdminPermission } from './admin-policy.js';
import { AllowedMethods } from './allowed-methods.js';
import type { ConnectionLimits } from './connection-limits.js';
import { RefusedRequest } from './errors.js';
import { IncompleteBodies } from './incomplete-bodies.js';
import { RawResponses } from './raw-responses.js';
import { RequestAdmission } from './request-admission.js';
import { RequestDeadline } from './request-deadline.js';
import type { Caller } from './route-access.js';
import { UnreadAnswers } from './unread-answers.js';

/** A request whose body arrives later than this after its headers is authorized again. */
const ADMITTED_FOR_MS = 250;

const TOO_MANY_BODIES = new RefusedRequest({
  code: 'SERVICE_UNAVAILABLE',
  message: 'Too many bodies are being received. Send this request again, with its body at once.',
});

/** The hooks of all requests. */
@Injectable()
export class ServerHooks {
  constructor(
    readonly admission: RequestAdmission,
    readonly responses: RawResponses,
    private readonly deadline: RequestDeadline,
    private readonly methods: AllowedMethods,
    @Inject(AnswerObserver) private readonly observer: Pick<AnswerObserver, 'onAnswer'>,
  ) {}

  addTo(instance: FastifyInstance, connections: ConnectionLimits): void {
    const unreadAnswers = new UnreadAnswers();
    unreadAnswers.start();
    const bodies = new IncompleteBodies();
    this.decorate(instance);
    instance.addHook('onRoute', ({ url, method, config }) => {
      const route = config?.route;
      if (route === undefined) throw new Error(`${url} does not declare its access (@Access)`);
      if (route.access === 'admin' && !isAdminPermission(route.needs)) {
        throw new Error(`${url} does not name a permission of ADMIN_POLICY`);
      }
      this.methods.learn(url, [method].flat());
    });
    instance.addHook('onRequest', (request, reply, done) => {
      // `admit` sets the client's address before its first await.
      void this.admission.admit(request, reply, () => {
        if (bodies.begin(request.raw, request.connectionOwner)) done();
        else this.admission.refuse(request, reply, TOO_MANY_BODIES);
      });
      if (request.routeOptions.config.route?.access === 'public') {
        unreadAnswers.trackPublic(request.clientAddress, request.raw.socket, reply.raw);
      }
    });
    instance.addHook('preValidation', (request, reply, done) => {
      if (request.connectionOwner !== null) connections.authenticated(request.raw.socket, request.connectionOwner);
      this.deadline.resume(request);
      const isLate = hasBody(request) && performance.now() - request.admittedAtMs > ADMITTED_FOR_MS;
      if (isLate && request.caller !== null) void this.admission.admitAgain(request, reply, done);
      else done();
    });
    instance.addHook('onSend', (request, _reply, payload, done) => {
      this.deadline.endProgress(request);
      const { raw, connectionOwner } = request;
      if (connectionOwner === null) connections.unauthenticated(raw.socket);
      if (request.isQuotaUsedUp) this.admission.queue.noteQuotaExceeded(raw, connections.standingOf(raw.socket));
      // After an error in sending, the answer to the error is sent over the same response.
      request.unreadAnswer ??= unreadAnswers.track(raw.socket, connectionOwner, octetsOf(payload));
      done();
    });
    instance.addHook('onClose', (_instance, done) => {
      unreadAnswers.stop();
      done();
    });
    instance.addHook('onResponse', (request, reply, done) => {
      if (request.unreadAnswer !== null) unreadAnswers.remove(request.unreadAnswer);
      const elapsedMs = reply.elapsedTime - this.deadline.done(request);
      const route = request.routeOptions.url ?? 'none';
      const { id, method, caller } = request;
      const answer = { id, method, route, status: reply.statusCode, mode: modeOfCaller(caller), elapsedMs };
      this.observer.onAnswer(answer, callOf(request));
      done();
    });
  }

  private decorate(instance: FastifyInstance): void {
    instance.decorateRequest('caller', null);
    instance.decorateRequest('connectionOwner', null);
    instance.decorateRequest('admittedAtMs', 0);
    instance.decorateRequest('consoleSession', null);
    instance.decorateRequest('keyDigests', null);
    instance.decorateRequest('errorCode', null);
    instance.decorateRequest('limitHeaders', null);
    instance.decorateRequest('isQuotaUsedUp', false);
    instance.decorateRequest('clientAddress', '');
    instance.decorateRequest('bodyDigest', null);
    instance.decorateRequest('unreadAnswer', null);
    instance.decorateRequest('deadline', { getter: () => this.deadline });
  }
}

/** Also of a route that reads none. */
const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** The request as its account may read it; null without the key of an account. */
const callOf = ({ caller, originalUrl: target, errorCode: code }: FastifyRequest): AnsweredCall | null =>
  caller === null || caller.kind === 'admin' ? null : { caller, target, code };

const modeOfCaller = (caller: Caller | null): Mode | 'none' =>
  caller === null || caller.kind === 'admin' ? 'none' : caller.tenant.mode;

const octetsOf = (payload: unknown): number =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
