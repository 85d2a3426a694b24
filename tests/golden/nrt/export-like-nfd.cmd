numalign nrt export --machine power9-2s-sparse-ids --policy restricted --scope pod --like nfd --node-name p9
