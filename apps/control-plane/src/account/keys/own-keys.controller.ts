import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { PageQuery, type PageAnswer } from '../../admin/crud/paging.js';
import type { Plain } from '../../admin/crud/plain.js';
import { KeyAnswer, KeyList } from '../../admin/keys/key.view.js';
import { BodyPipe, NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { ByDeveloper, type Developer } from '../../http/developer.decorator.js';
import { AccountCall } from '../account-call.js';
import { OwnKeyDraft } from './own-key.dto.js';
import { OwnKeysService } from './own-keys.service.js';

@Controller('v1/account/keys')
export class OwnKeysController {
  constructor(private readonly keys: OwnKeysService) {}

  @Get()
  @AccountCall({
    id: 'listAccountKeys',
    summary: 'List the keys of the account',
    description: 'Live keys with a live key, test keys with a test key.',
    type: KeyList,
    isPage: true,
  })
  async list(@ByDeveloper() by: Developer, @Query(QueryPipe) query: PageQuery): Promise<PageAnswer<Plain<KeyAnswer>>> {
    return valueOf(await this.keys.list(by, query));
  }

  @Post()
  @AccountCall({
    id: 'createAccountKey',
    summary: 'Make a key',
    description:
      'Of the kind and with the limits of the key of this call, and with no scope that it lacks; without `scopes` those of its scopes that a key has by default. Over the console, of a member, the key that confirmed the session stands for it. It works at once. The key itself is in this response only.',
    body: 'json',
    confirmedWith: [],
    status: 201,
    type: KeyAnswer,
  })
  async create(@ByDeveloper() by: Developer, @Body(BodyPipe) body: OwnKeyDraft): Promise<Plain<KeyAnswer>> {
    return valueOf(await this.keys.create(by, body));
  }

  @Get(':id')
  @AccountCall({ id: 'getAccountKey', summary: 'Show a key', type: KeyAnswer, errors: ['NOT_FOUND'] })
  async find(@ByDeveloper() by: Developer, @Param('id') id: string): Promise<Plain<KeyAnswer>> {
    return valueOf(await this.keys.find(by, id));
  }

  @Post(':id/rotate')
  @HttpCode(202)
  @AccountCall({
    id: 'rotateAccountKey',
    summary: 'Rotate a key',
    description:
      'The new key is in this response only. The old one ends everywhere within 5 s; the id is unchanged. Refused for a key with a scope that the key of this call lacks.',
    confirmedWith: [],
    status: 202,
    type: KeyAnswer,
    errors: ['NOT_FOUND'],
  })
  async rotate(
    @ByDeveloper() by: Developer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<KeyAnswer>> {
    return valueOf(await this.keys.rotate(by, id));
  }

  @Post(':id/revoke')
  @HttpCode(202)
  @AccountCall({
    id: 'revokeAccountKey',
    summary: 'Revoke a key',
    description:
      'It ends everywhere within 5 s, permanently; the key of this call, too. A second call changes nothing.',
    status: 202,
    type: KeyAnswer,
    errors: ['NOT_FOUND'],
  })
  async revoke(
    @ByDeveloper() by: Developer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<KeyAnswer>> {
    return valueOf(await this.keys.revoke(by, id));
  }
}
