import type { ApiKeyPrincipal } from '@countersign/accounts';
import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post } from '@nestjs/common';
import { BodyPipe, NoBodyPipe } from '../http/body.pipe.js';
import { CallerKey } from '../http/caller.decorator.js';
import { valueOf } from '../http/errors.js';
import { Access } from '../http/route-access.js';
import { CreateVerification } from './create-verification.dto.js';
import { VerifyService } from './verify.service.js';

const JSON_TEXT = 'application/json; charset=utf-8';

/** Sessions come from the renderer as JSON text and go out as they are: metadata keeps the order of its keys. */
@Controller('v1/verify')
export class VerifyController {
  constructor(private readonly verify: VerifyService) {}

  @Post()
  @HttpCode(200)
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'verify', body: 'json', policy: 'create' })
  async create(@CallerKey() caller: ApiKeyPrincipal, @Body(BodyPipe) body: CreateVerification): Promise<string> {
    return valueOf(await this.verify.create(caller, body));
  }

  @Get(':sessionId')
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'verify', body: 'none', policy: 'poll' })
  async find(@CallerKey() caller: ApiKeyPrincipal, @Param('sessionId') sessionId: string): Promise<string> {
    return valueOf(await this.verify.find(caller, sessionId));
  }

  @Delete(':sessionId')
  @HttpCode(204)
  @Access({ access: 'key', scope: 'verify', body: 'none' })
  async cancel(
    @CallerKey() caller: ApiKeyPrincipal,
    @Param('sessionId') sessionId: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<void> {
    valueOf(await this.verify.cancel(caller, sessionId));
  }
}
