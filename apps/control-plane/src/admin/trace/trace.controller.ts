import { applyDecorators, Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { BodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { Operation } from '../../http/operation.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { Access } from '../../http/route-access.js';
import { AdminService } from '../crud/admin.service.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import type { Plain } from '../crud/plain.js';
import { FullTraceDraft, TraceQuery } from './trace.dto.js';
import { TraceResource } from './trace.resource.js';
import { OWNER_TIMEOUT_MS, TraceService } from './trace.service.js';
import { FullTraceView, TraceView } from './trace.view.js';

const CAPTURE = 'application/vnd.tcpdump.pcap';
/** Time for the rest of a call, besides waiting for gateways. */
const SLACK_MS = 2_000;

const ShowsTrace = (): MethodDecorator =>
  applyDecorators(
    Get(),
    Access({
      access: 'admin',
      needs: 'binds.get-trace',
      restricted: [{ name: 'format', value: 'pcap', right: 'readRecordedTexts' }],
      body: 'none',
      budgetMs: OWNER_TIMEOUT_MS + SLACK_MS,
    }),
    Operation({
      id: 'getBindTrace',
      tag: 'Admin',
      summary: 'Show the last PDUs of a bind',
      description:
        'The last 512 PDUs, or 256 KiB, of each connection, from the gateways. Passwords are redacted, and so are texts, unless they are being recorded. The roles `viewer` and `support` get no capture file, and of the octets of each PDU only the header; for `viewer` addresses are masked.',
      answer: { status: 200, description: 'The recorded PDUs.', type: TraceView, alsoAs: CAPTURE },
      errors: ['NOT_FOUND'],
    }),
  );

const RecordsFully = (): MethodDecorator =>
  applyDecorators(
    Post(),
    HttpCode(202),
    Access({ access: 'admin', needs: 'binds.record-texts', body: 'json' }),
    Operation({
      id: 'traceBind',
      tag: 'Admin',
      summary: 'Record the texts of a bind for a while',
      description:
        'Gateways begin within 2 s, and erase all texts at the end of the recording: read the trace before that. A further call restarts the duration.',
      answer: { status: 202, description: 'Until when.', type: FullTraceView },
      errors: ['NOT_FOUND'],
    }),
  );

@Controller('v1/admin/binds/:id/trace')
export class TraceController {
  constructor(
    private readonly admin: AdminService,
    private readonly resource: TraceResource,
    private readonly traces: TraceService,
  ) {}

  @ShowsTrace()
  async show(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Query(QueryPipe) { format }: TraceQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Plain<TraceView> | Buffer> {
    const trace = valueOf(await this.traces.show(id, format, by));
    if (Buffer.isBuffer(trace)) {
      void reply.header('content-type', CAPTURE).header('content-disposition', `attachment; filename="${id}.pcap"`);
    }
    return trace;
  }

  @RecordsFully()
  async recordFully(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) { seconds }: FullTraceDraft,
  ): Promise<Plain<FullTraceView>> {
    const trace = { id, action: 'trace' };
    return valueOf(
      await this.admin.act(this.resource, by, trace, (tx, bind) => this.resource.recordFully(tx, bind, seconds)),
    );
  }
}
