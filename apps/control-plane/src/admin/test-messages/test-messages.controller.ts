import { MAX_AN_HOUR } from '@countersign/carriers/test-messages';
import { applyDecorators, Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { BodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { Operation } from '../../http/operation.js';
import { Access } from '../../http/route-access.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import type { Plain } from '../crud/plain.js';
import { TestMessageDraft } from './test-message.dto.js';
import { WAIT_MS } from './test-message.queue.js';
import { TestMessageService } from './test-message.service.js';
import { TestMessageAnswer } from './test-message.view.js';

/** Time for the rest of a call, besides waiting for the carrier. */
const SLACK_MS = 2_000;

const SendsTest = (): MethodDecorator =>
  applyDecorators(
    Post(),
    HttpCode(200),
    Access({ access: 'admin', needs: 'binds.send-test', body: 'json', budgetMs: WAIT_MS + SLACK_MS }),
    Operation({
      id: 'sendTestMessage',
      tag: 'Admin',
      summary: 'Send a test message over a bind',
      description: `One SMS with a fixed text, over a connection of this bind and with its submit options, whatever the routes say. The answer is what the carrier responded; it comes within ${WAIT_MS / 1_000} s. At most ${MAX_AN_HOUR} in an hour, over all binds. Each is in the audit log, with the phone masked.`,
      answer: { status: 200, description: 'What became of it.', type: TestMessageAnswer },
      errors: ['NOT_FOUND', 'CONFLICT', 'DESTINATION_BLOCKED', 'INVALID_PHONE'],
    }),
  );

@Controller('v1/admin/binds/:id/test-messages')
export class TestMessagesController {
  constructor(private readonly messages: TestMessageService) {}

  @SendsTest()
  async send(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) draft: TestMessageDraft,
  ): Promise<Plain<TestMessageAnswer>> {
    return valueOf(await this.messages.send(by, id, draft));
  }
}
