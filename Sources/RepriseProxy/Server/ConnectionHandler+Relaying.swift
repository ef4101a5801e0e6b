#if Proxy
    import NIOCore
    import RepriseCore
    import RepriseHTTP
    import RepriseRanges

    extension ConnectionHandler {
        /// Answers HEAD through a shared cache: what is stored answers it, else the origin does, and where that fails what is
        /// stored stands in for it as it does for GET.
        func serveHead(_ url: OriginURL, _ head: RequestHead) {
            let cache = server.cache
            let fields = forwarded(head.fields, of: head)
            let resource = cache.resource(for: url, fields: fields).withAnyAnswer(for: fields)
            if RequestCacheControl(fields).onlyIfCached { return serve(resource, head) }
            let stored = cache.resource(for: url, fields: RequestCacheControl.onlyFresh(fields))
                .withAnyAnswer(for: fields)
            serve(stored, head, in: ByteRange(0, 0)) { [weak self] handle in
                let stored = RequestRelay.Stored(handle: handle, fields: resource.request.fields) { [weak self] in
                    self?.serve(resource, head)
                }
                self?.pass(head, .whole([]), to: url, stored: stored)
            }
        }

        /// Passes a request on to the origin.
        func pass(
            _ head: RequestHead, _ body: ConnectionStateMachine.Body, to url: OriginURL,
            stored: RequestRelay.Stored? = nil
        ) {
            guard let outlet = AnswerOutlet(of: self, to: head) else { return }
            standing.value = .answering
            let fields = forwarded(server.cache.withOriginFields(head.fields), of: head)
            let request = OriginRequest(
                relaying: head.method, to: url, fields, body: head.body == .none ? nil : outlet.passedOn(body))
            let relay = RequestRelay(request, stored: stored, server: server, outlet: outlet)
            current = relay
            relay.start()
        }
    }

    extension AnswerOutlet {
        /// A body as it goes to the origin.
        fileprivate func passedOn(_ body: ConnectionStateMachine.Body) -> OriginRequest.Body {
            switch body {
            case .whole(let bytes): return .whole(bytes)
            case .beginning(let bytes, let length):
                let loop = context.eventLoop
                let bound = NIOLoopBound(self, eventLoop: loop)
                let upload = OriginUpload(length: length) { loop.execute { bound.value.relay?.bodyIsDemanded() } }
                upload.append(bytes)
                return .upload(upload)
            }
        }
    }
#endif
