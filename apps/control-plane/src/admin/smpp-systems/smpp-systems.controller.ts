import { Body, Controller, Param } from '@nestjs/common';
import { NoBodyPipe } from '../../http/body.pipe.js';
import { CrudController } from '../crud/crud.controller.js';
import { Acts, Creates, Deletes, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import type { Plain } from '../crud/plain.js';
import { SmppSystemChange, SmppSystemDraft } from './smpp-system.dto.js';
import { SmppSystemResource } from './smpp-system.resource.js';
import { SmppSystemAnswer, SmppSystemList } from './smpp-system.view.js';

const SYSTEM = { resource: 'smpp-systems', id: 'SmppSystem', one: 'an SMPP system', many: 'SMPP systems' } as const;

@Controller('v1/admin/smpp-systems')
export class SmppSystemsController extends CrudController(SmppSystemResource, {
  list: Lists(SYSTEM, SmppSystemList),
  create: Creates(SYSTEM, SmppSystemAnswer, {
    description:
      'It may bind at once, from any address unless networks are given. A generated password is shown in this response only.',
    errors: ['CONFLICT'],
  }),
  get: Shows(SYSTEM, SmppSystemAnswer),
  update: Updates(SYSTEM, SmppSystemAnswer, {
    description:
      'The settings are checked at bind; an open connection that is no longer allowed is closed, and its messages get ' +
      'retryableMoStatus meanwhile. While trustedForMo is true, only the role `owner` may change ' +
      'allowedCidrs, tlsRequired, outbind, systemId, senderFormat, carrier or password.',
    errors: ['CONFLICT'],
  }),
  delete: Deletes(SYSTEM, {
    description: 'Its connections are closed. Not while a route uses it.',
    errors: ['CONFLICT'],
  }),
  draft: SmppSystemDraft,
  change: SmppSystemChange,
}) {
  @Acts(SYSTEM, { name: 'rotate', summary: 'Rotate the password of' }, SmppSystemAnswer, {
    description:
      'The new password is random and shown in this response only. The next bind needs it; open connections ' +
      'stay. While trustedForMo is true, only the role `owner` may rotate.',
  })
  rotate(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<SmppSystemAnswer>> {
    return this.act(by, id, 'rotate', (tx, row) => this.resource.rotate(tx, by, row));
  }
}
