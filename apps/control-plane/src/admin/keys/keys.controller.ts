import { Body, Controller, Param } from '@nestjs/common';
import { NoBodyPipe } from '../../http/body.pipe.js';
import { CrudController } from '../crud/crud.controller.js';
import { Acts, Creates, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { AccountPageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { KeyChange, KeyDraft } from './key.dto.js';
import { KeyResource } from './key.resource.js';
import { KeyAnswer, KeyList } from './key.view.js';

const KEY = { resource: 'keys', id: 'Key', one: 'an API key', many: 'API keys' } as const;

@Controller('v1/admin/keys')
export class KeysController extends CrudController(KeyResource, {
  list: Lists(KEY, KeyList),
  create: Creates(KEY, KeyAnswer, {
    description:
      'By default it has all scopes but `account` and the default limits. It works at once. The key itself is in this response only.',
  }),
  get: Shows(KEY, KeyAnswer),
  update: Updates(KEY, KeyAnswer, { description: '`limits` replaces all limits of the key.' }),
  query: AccountPageQuery,
  draft: KeyDraft,
  change: KeyChange,
}) {
  @Acts(KEY, { name: 'rotate', summary: 'Rotate' }, KeyAnswer, {
    description: 'The new key is in this response only. The old one ends everywhere within 5 s; the id is unchanged.',
    errors: ['CONFLICT'],
  })
  rotate(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<KeyAnswer>> {
    return this.act(by, id, 'rotate', (tx, row) => this.resource.rotate(tx, row));
  }

  @Acts(KEY, { name: 'revoke', summary: 'Revoke' }, KeyAnswer, {
    description: 'It ends everywhere within 5 s, permanently. A second call changes nothing.',
  })
  revoke(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<KeyAnswer>> {
    return this.act(by, id, 'revoke', (tx, row) => this.resource.revoke(tx, row));
  }
}
