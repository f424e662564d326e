import { Body, Controller, Param } from '@nestjs/common';
import { NoBodyPipe } from '../../http/body.pipe.js';
import { CrudController } from '../crud/crud.controller.js';
import { Acts, Creates, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import type { Plain } from '../crud/plain.js';
import { AdminKeyChange, AdminKeyDraft } from './admin-key.dto.js';
import { AdminKeyResource } from './admin-key.resource.js';
import { AdminKeyAnswer, AdminKeyList } from './admin-key.view.js';

const KEY = { resource: 'admin-keys', id: 'AdminKey', one: 'an admin key', many: 'admin keys' } as const;

@Controller('v1/admin/admin-keys')
export class AdminKeysController extends CrudController(AdminKeyResource, {
  list: Lists(KEY, AdminKeyList, {
    description:
      'Without the key of the environment, which is an owner named `root`. Each page adds an entry to the audit log: it has phones.',
  }),
  create: Creates(KEY, AdminKeyAnswer, {
    description: 'It works at once. The key itself is in this response only.',
    errors: ['CONFLICT'],
  }),
  get: Shows(KEY, AdminKeyAnswer),
  update: Updates(KEY, AdminKeyAnswer, { errors: ['CONFLICT'] }),
  draft: AdminKeyDraft,
  change: AdminKeyChange,
  holdsPeople: true,
}) {
  @Acts(KEY, { name: 'rotate', summary: 'Rotate' }, AdminKeyAnswer, {
    description: 'The new key is in this response only. The old one ends everywhere within 5 s; the id is unchanged.',
    errors: ['CONFLICT'],
  })
  rotate(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<AdminKeyAnswer>> {
    return this.act(by, id, 'rotate', (tx, row) => this.resource.rotate(tx, row));
  }

  @Acts(KEY, { name: 'revoke', summary: 'Revoke' }, AdminKeyAnswer, {
    description: 'It ends everywhere within 5 s, open WebSockets included, permanently. A second call changes nothing.',
  })
  revoke(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<AdminKeyAnswer>> {
    return this.act(by, id, 'revoke', (tx, row) => this.resource.revoke(tx, row));
  }
}
