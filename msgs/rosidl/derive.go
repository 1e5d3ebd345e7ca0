package rosidl

// What rosidl derives from a service and an action is described in the design
// paper "Actions" of ROS 2 and in its package rosidl_parser.

const (
	eventInfo = "service_msgs/msg/ServiceEventInfo"
	uuid      = "unique_identifier_msgs/msg/UUID"
	stamp     = "builtin_interfaces/msg/Time"
)

// messageOf is the message that n names within the definition, nil when it names
// none.
func (p *parsed) messageOf(n name) *Message {
	def := n.definition()
	switch {
	case p.message != nil:
		if n.suffix == "" {
			return p.message
		}
	case p.service != nil:
		return partOf(p.service, n.suffix)
	case p.action != nil:
		switch n.suffix {
		case "_Goal":
			return p.action.Goal
		case "_Result":
			return p.action.Result
		case "_Feedback":
			return p.action.Feedback
		case "_FeedbackMessage":
			return &Message{Name: def + "_FeedbackMessage", Fields: []Field{
				one("goal_id", uuid), one("feedback", p.action.Feedback.Name),
			}}
		}
		for _, suffix := range actionServices {
			if len(n.suffix) > len(suffix) && n.suffix[:len(suffix)] == suffix {
				return partOf(p.serviceOf(name{n.pkg, n.kind, n.base, suffix}), n.suffix[len(suffix):])
			}
		}
	}
	return nil
}

func partOf(s *Service, suffix string) *Message {
	switch suffix {
	case "_Request":
		return s.Request
	case "_Response":
		return s.Response
	case "_Event":
		atMostOne := func(name, nested string) Field {
			return Field{Name: name, Type: Type{Kind: Nested, Nested: nested, Shape: Bounded, Len: 1}}
		}
		return &Message{Name: s.Name + "_Event", Fields: []Field{
			one("info", eventInfo), atMostOne("request", s.Request.Name), atMostOne("response", s.Response.Name),
		}}
	}
	return nil
}

// actionServices are the suffixes of the services of an action.
var actionServices = []string{"_SendGoal", "_GetResult"}

// serviceOf is the service that n names within the definition, nil when it names
// none.
func (p *parsed) serviceOf(n name) *Service {
	if p.service != nil && n.suffix == "" {
		return p.service
	}
	if p.action == nil {
		return nil
	}
	var request, response []Field
	switch n.suffix {
	case "_SendGoal":
		request = []Field{one("goal_id", uuid), one("goal", p.action.Goal.Name)}
		response = []Field{{Name: "accepted", Type: Type{Kind: Bool}}, one("stamp", stamp)}
	case "_GetResult":
		request = []Field{one("goal_id", uuid)}
		response = []Field{{Name: "status", Type: Type{Kind: Int8}}, one("result", p.action.Result.Name)}
	default:
		return nil
	}
	s := n.String()
	return &Service{
		Name:     s,
		Request:  &Message{Name: s + "_Request", Fields: request},
		Response: &Message{Name: s + "_Response", Fields: response},
	}
}

// one is a field that holds one message.
func one(name, nested string) Field {
	return Field{Name: name, Type: Type{Kind: Nested, Nested: nested}}
}

// structure is the message that n names or, of a service or an action as a
// whole, the structure that its type description shows. It is nil when n names
// none of these.
func (p *parsed) structure(n name) *Message {
	if m := p.messageOf(n); m != nil {
		return m
	}
	if s := p.serviceOf(n); s != nil {
		return &Message{Name: s.Name, Fields: []Field{
			one("request_message", s.Request.Name), one("response_message", s.Response.Name), one("event_message", s.Name+"_Event"),
		}}
	}
	if a := p.action; a != nil && n.suffix == "" {
		return &Message{Name: a.Name, Fields: []Field{
			one("goal", a.Goal.Name), one("result", a.Result.Name), one("feedback", a.Feedback.Name),
			one("send_goal_service", a.Name+"_SendGoal"), one("get_result_service", a.Name+"_GetResult"),
			one("feedback_message", a.Name+"_FeedbackMessage"),
		}}
	}
	return nil
}
